package modules

// Outdated is the Extra of a problem about a module that isn't installed as its
// call wants it, where nothing may be installed ([AsRecorded]). Programs that
// ask what there is to do can tell it from an error in the configuration.
type Outdated struct {
	Key  string // of the call, as in modules.json
	Code OutdatedCode
}

// OutdatedCode says what is wrong with a record. The texts don't change.
type OutdatedCode string

const (
	Absent         OutdatedCode = "module_absent"          // there is no record, or not the directory that it names
	SourceChanged  OutdatedCode = "module_source_changed"  // the call has another source
	VersionChanged OutdatedCode = "module_version_changed" // the constraint doesn't allow the version
)
