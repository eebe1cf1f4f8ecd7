package modules

import "context"

// Fetcher gets packages from elsewhere. Package fetch has one that knows all
// that Terraform knows; programs that embed this package may bring their own.
type Fetcher interface {
	// Fetch makes the directory dst, which isn't there yet and whose parent is,
	// with the content of a package. It is called by many goroutines at once;
	// whatever the number of calls for one package, it is asked for once.
	Fetch(ctx context.Context, req FetchRequest, dst string) (Fetched, error)
}

// FetchRequest says what is to be fetched.
type FetchRequest struct {
	Package string // the address without a subdirectory: [Remote.Package]
	// Pin names what never changes, like "registry.example.com/acme/net/cloud 1.2.0":
	// a package that was fetched earlier for the same pin and address is as good
	// as one that is fetched now. "" says that it may have changed.
	Pin string
	// Commit is what a lock file says that the package was: the full ID of a
	// commit of a git repository. It counts only where the repository may not be
	// asked what the address means now. "": not known.
	Commit string
	// Own says that the user's own configuration has the address: only then does a profile in it count, and only then are the user's
	// credentials for s3 sent to any server that it names.
	Own    bool
	Served Served
	// Beside are the requests that are made at the same time, this one among them, so
	// that what several of them need can be asked for together; nil: not known. It
	// makes no difference to what is fetched.
	Beside *Requests
}

// Requests are made at the same time.
type Requests struct{ All []FetchRequest }

// Fetched is what is known of a package that was fetched.
type Fetched struct {
	Commit string // of a git repository, in full; "" for others
}

// packageSource is where the package of a module is fetched from.
type packageSource struct {
	remote Remote // its subdirectory is the module's
	pin    string // see [FetchRequest]
	own    bool   // see [FetchRequest]

	registry Registry // which of them has it; zero: none
	version  string   // of its module
	unasked  bool     // see [Choice]
	commit   string   // see [FetchRequest]
	beside   *Requests
}

func (o packageSource) request() FetchRequest {
	return FetchRequest{Package: o.remote.Package, Pin: o.pin, Commit: o.commit, Own: o.own, Beside: o.beside, Served: o.remote.Served}
}

// Event is something that happened while a tree was walked: one of [Downloading], [Planned]
// and [Recorded].
type Event any

// Downloading comes when a package is going to be fetched for a module.
type Downloading struct {
	Key     string
	Package string // the address, without secrets
	Version string // of a registry's module; "" for others
}

// Planned comes in place of Downloading with [Resolver.DryRun].
type Planned struct {
	Downloading
	Code OutdatedCode // why it would be fetched
	Was  string       // the version that is recorded; "": none
	// Certain says that what the module calls and requires is known: it is there in the same version.
	Certain bool
}

// Recorded comes when a module is in its place that was recorded otherwise, or
// not at all.
type Recorded struct{ Record }

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
	Upgraded       OutdatedCode = "module_upgrade"         // nothing is, and [Upgrade] fetches it again
)
