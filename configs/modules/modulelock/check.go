package modulelock

import (
	"cmp"
	"slices"
)

// State is how an installed module stands to the lock file.
type State int

const (
	Same    State = iota // what is locked
	New                  // not locked
	Changed              // locked otherwise
	Gone                 // locked, and not installed any more
)

// String returns a word for the state.
func (s State) String() string {
	switch s {
	case Same:
		return "same"
	case New:
		return "new"
	case Changed:
		return "changed"
	case Gone:
		return "gone"
	}
	return "unknown"
}

// Finding is what Check says of one key.
type Finding struct {
	Key       string
	State     State
	Fields    []string // with Changed: which of "source", "version", "commit" and "hash", in this order
	Locked    Lock     // zero with New
	Installed Lock     // zero with Gone
}

// Check compares the file with what is installed: the modules of all calls
// that aren't local, each key once. There is a finding for each key on either
// side, sorted by key.
//
// A commit that isn't known on one side is no change: a module that was kept
// needn't be a repository any more. The hash says what matters.
func (l *Locks) Check(installed []Lock) []Finding {
	var findings []Finding
	seen := make(map[string]bool, len(installed))
	for _, is := range installed {
		is = is.plain()
		seen[is.Key] = true
		finding := Finding{Key: is.Key, Installed: is, State: New}
		if was, ok := l.Module(is.Key); ok {
			finding.Locked, finding.State = was, Same
			if finding.Fields = changes(was, is); len(finding.Fields) > 0 {
				finding.State = Changed
			}
		}
		findings = append(findings, finding)
	}
	for _, was := range l.All() {
		if !seen[was.Key] {
			findings = append(findings, Finding{Key: was.Key, State: Gone, Locked: was})
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Key, b.Key) })
	return findings
}

// changes names the fields in which two locks differ.
func changes(was, is Lock) (fields []string) {
	for _, field := range []struct {
		name    string
		changed bool
	}{
		{"source", was.Source != is.Source},
		{"version", was.Version != is.Version},
		{"commit", was.Commit != is.Commit && was.Commit != "" && is.Commit != ""},
		{"hash", was.Hash != is.Hash},
	} {
		if field.changed {
			fields = append(fields, field.name)
		}
	}
	return fields
}

// Updated returns the locks of what is installed. An entry that is the same
// stays as it is, with the commit that it may have and the installed module may not.
func (l *Locks) Updated(installed []Lock) *Locks {
	updated := &Locks{}
	for _, finding := range l.Check(installed) {
		switch {
		case finding.State == Gone:
		case finding.State == Same && finding.Installed.Commit == "":
			updated.Set(finding.Locked)
		default:
			updated.Set(finding.Installed)
		}
	}
	return updated
}
