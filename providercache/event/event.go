// Package event holds the events that installing, locking, mirroring and vendoring
// report while they work, and what becomes of each package in the end.
//
// Set the Observe field of a Fetcher:
//
//	f.Observe = event.Observer(func(e event.Event) {
//		if e.Kind == event.Done && e.State == event.Fetched {
//			log.Printf("installed %s %s", e.Provider, e.Version)
//		}
//	})
//
// Observers are called for one event at a time, and hold up the work until they return.
package event

import (
	"context"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/link"
)

// Event is something that happened. Events of one package come in order, those of different packages are mixed.
type Event struct {
	Kind Kind
	// Outcome is what is known of the package by then. Its Provider is zero where the event is about several, its
	// Platform where that is the Fetcher's own, in an installation.
	Outcome

	Requirements getproviders.Requirements // of Queued: what is installed
	Packages     []Outcome                 // of Queued: what is locked, mirrored or vendored
	Sizes        map[string]int64          // of Queued: what is verified, by its directory, in bytes; 0: not known
	Warnings     []string                  // of Warning
	LeftOut      getproviders.LeftOut      // of LeftOut
	Location     getproviders.Location     // of Fetching
	Phase        Phase                     // of Begun
	Done, Total  int64                     // bytes, of Progress, HashProgress and Kept; Total is -1 if unknown
	Skipped      error                     // of Done: which sources failed before the one that had the package
}

// Kind says what happened.
type Kind string

// The kinds, in the order in which they come. None but Queued and Done has to come. A lock file, a mirror and vendored
// packages have Done for each of the Packages that were Queued, an installation for each provider.
const (
	Queued       Kind = "queued"        // first: with Requirements, Packages or Sizes
	Query        Kind = "query"         // the version is going to be decided; Locked: by the lock file
	Warning      Kind = "warning"       // a registry wants its users to read something
	LeftOut      Kind = "left_out"      // a policy leaves out versions that are newer than the one that is selected
	Selected     Kind = "selected"      // the version is decided
	Hashing      Kind = "hashing"       // what is at Path is going to be read, because no receipt tells its hashes
	HashProgress Kind = "hash_progress" // for every 8 MB that were read: of files, or of an archive
	Hashed       Kind = "hashed"        // what is only verified was read
	Fetching     Kind = "fetching"      // the package is going to be fetched from Source
	Progress     Kind = "progress"      // an archive is downloaded: at most ten times a second, from 0 or what an earlier run left to the whole
	Begun        Kind = "begun"         // something else than downloading is begun: a Phase
	Kept         Kind = "kept"          // a download ended early, and Done bytes are kept for a later run
	Done         Kind = "done"          // last: State says what became of the package
)

// Outcome is what became of one package, in an installation, a cache, a lock file, a mirror or elsewhere.
type Outcome struct {
	getproviders.Selection
	Platform getproviders.Platform
	State    State

	Path           string                            // of the package, or of its archive, which may be a URL; "": none, or it isn't known
	Source         string                            // which source had it, as getproviders.Package has it; "" for what was there
	Bytes          int64                             // of the archive; 0: there is none, or its size isn't known
	Link           link.Mode                         // how it got from the cache to its place; zero: it didn't
	LinkReason     error                             // why in no better way; nil: there was none
	Authentication getproviders.AuthenticationResult // zero for what isn't signed, and where it isn't known any more
	H1             getproviders.Hash                 // of the files, if they were read or a lock file has to learn it
	Damaged        bool                              // what was in its place in a mirror had other bytes than it should have
	Err            error                             // nil, or a *getproviders.Fault
}

// State says what became of a package.
type State string

// The states. The zero State is that of a package on which work goes on.
const (
	BuiltIn     State = "built_in" // part of the product: there is no package
	Present     State = "present"  // it was in its place already
	Linked      State = "linked"   // it was in the shared cache already
	Fetched     State = "fetched"  // from its source, and authenticated
	Recalled    State = "recalled" // its hashes are known from an earlier run, which read it
	Listed      State = "listed"   // its hashes are those that a source lists that is trusted
	Sent        State = "sent"
	Pulled      State = "pulled"
	NotCached   State = "not_cached"   // nothing to push: the cache has no package that the lock file allows
	Absent      State = "absent"       // nothing to pull: the remote has no package that the lock file allows
	NotRecorded State = "not_recorded" // the lock file doesn't have its h1
	NotTried    State = "not_tried"    // nothing was done, because others failed before the first archive was requested
	Failed      State = "failed"       // Err says why
)

// Phase is what is being done to a package.
type Phase int

// The phases, in the order in which a package goes through them. None of them has to come.
const (
	Downloading Phase = iota
	Unpacking         // files are made of an archive
	Verifying         // files are hashed that are there
	Linking           // files are linked, cloned or copied to their place
)

// String is the phase in a word, such as "unpacking".
func (p Phase) String() string {
	return [...]string{"downloading", "unpacking", "hashing", "linking"}[p]
}

// hashStep is how many bytes are read between two events of HashProgress. It isn't a time, so that the same
// package has the same events each time; a slow disk reads as much within a second.
const hashStep = 8_000_000

// Count returns a function that is to be called with the number of bytes after each read of a
// package, from one goroutine at a time. It emits HashProgress for every 8 MB.
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
