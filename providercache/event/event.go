// Package event has the events that report the progress of installing,
// locking, mirroring and vendoring, and the outcome of each package.
//
// Set the Observe field of a Fetcher:
//
//	f.Observe = event.Observer(func(e event.Event) {
//		if e.Kind == event.Done && e.State == event.Fetched {
//			log.Printf("installed %s %s", e.Provider, e.Version)
//		}
//	})
//
// An observer gets one event at a time, and the work waits until it returns.
package event

import (
	"context"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/link"
)

// Event is one event. Events of one package come in order; those of different packages are mixed.
type Event struct {
	Kind Kind
	// Outcome is what is known of the package so far. Its Provider is zero if the event is about
	// several providers; in an installation, its Platform is zero if it is the Fetcher's own.
	Outcome

	Requirements getproviders.Requirements // of Queued: what is installed
	Packages     []Outcome                 // of Queued: what is locked, mirrored or vendored
	Sizes        map[string]int64          // of Queued: what is verified, by its directory, in bytes; 0: not known
	Warnings     []string                  // of Warning
	LeftOut      getproviders.LeftOut      // of LeftOut
	Package      getproviders.Package      // of Fetching: what the source says of it
	Phase        Phase                     // of Begun
	Done, Total  int64                     // bytes, of Progress, HashProgress and Kept; Total is -1 if unknown
	Skipped      error                     // of Done: which sources failed before the one that had the package
}

// Kind says what happened.
type Kind string

// The kinds, in the order in which they come. Only Queued and Done always come. A lock file, a mirror and vendored
// packages have one Done for each of the Packages that were Queued, an installation one for each provider.
const (
	Queued       Kind = "queued"        // first: with Requirements, Packages or Sizes
	Query        Kind = "query"         // a version is about to be chosen, or the lock file's to be checked if Locked is set
	Warning      Kind = "warning"       // a registry has a message for its users, now or when the package was fetched
	LeftOut      Kind = "left_out"      // a policy leaves out versions that are newer than the one that is selected
	Selected     Kind = "selected"      // the version is chosen
	Hashing      Kind = "hashing"       // the package at Path is about to be read, because no receipt has its hashes
	HashProgress Kind = "hash_progress" // every 8 MB that were read of files or of an archive
	Hashed       Kind = "hashed"        // a package was read only to verify it
	Fetching     Kind = "fetching"      // the package is about to be fetched from Source
	Progress     Kind = "progress"      // an archive is being downloaded: ten times a second, and whenever Done has doubled, from 0, or the bytes of an earlier run, to Total
	Begun        Kind = "begun"         // a Phase other than Downloading begins
	Kept         Kind = "kept"          // a download ended early, and Done bytes are kept for a later run
	Done         Kind = "done"          // last: State says what became of the package
)

// Outcome is the result for one package of an installation, a cache, a lock file, a mirror or another place.
type Outcome struct {
	getproviders.Selection
	Platform getproviders.Platform
	State    State

	Path           string                            // of the package, or of its archive, which may be a URL; "": none, or unknown
	Source         string                            // that had it, as getproviders.Package names it; "" if it was there already
	Bytes          int64                             // of the archive; 0: no archive, or unknown size
	Link           link.Mode                         // how it was linked from the cache to its place; zero: it wasn't
	LinkReason     error                             // why no better way was used; nil: this is the best one
	Authentication getproviders.AuthenticationResult // zero for unsigned packages, and if it is no longer known
	H1             getproviders.Hash                 // of the files, if they were read or the lock file has to record it
	MovedAside     string                            // where files are now that were in its place and that no program put there; "": none were
	Damaged        bool                              // the mirror had other bytes in its place than it should have
	Err            error                             // nil, or a *getproviders.Fault
}

// State is the result for a package.
type State string

// The states. The zero State means that the work isn't finished.
const (
	BuiltIn  State = "built_in"  // part of the product: there is no package
	Present  State = "present"   // it was in its place already
	Linked   State = "linked"    // it was in the shared cache already
	Fetched  State = "fetched"   // from its source, and authenticated
	Recalled State = "recalled"  // its hashes are known from an earlier run that read it
	Listed   State = "listed"    // its hashes are those that a trusted source lists
	NotTried State = "not_tried" // nothing was done, because others failed before the first archive was requested
	Failed   State = "failed"    // Err says why
)

// Phase is a step of the work on a package.
type Phase int

// The phases, in the order in which a package goes through them. Each may be missing.
const (
	Downloading Phase = iota
	Unpacking         // an archive is unpacked to files
	Verifying         // existing files are hashed
	Linking           // files are linked, cloned or copied to their place
)

// String returns the phase as a word, such as "unpacking".
func (p Phase) String() string {
	return [...]string{"downloading", "unpacking", "hashing", "linking"}[p]
}

// hashStep is the number of bytes between two HashProgress events. It isn't a time, so that the
// same package always has the same events; even a slow disk reads as much within a second.
const hashStep = 8_000_000

// Count returns a function to be called with the number of bytes after each read of
// a package, from one goroutine at a time. It emits HashProgress every 8 MB.
func (o Outcome) Count(emit func(Event)) func(bytes int64) {
	e, reported := Event{Kind: HashProgress, Outcome: o}, int64(0)
	return func(bytes int64) {
		if e.Done += bytes; e.Done-reported >= hashStep {
			reported = e.Done
			emit(e)
		}
	}
}

// Observer adapts a function that needs no context to the Observe field.
func Observer(observe func(Event)) func(context.Context, Event) {
	return func(_ context.Context, e Event) { observe(e) }
}
