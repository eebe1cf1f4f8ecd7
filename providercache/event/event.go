// Package event holds the events that installing, locking, mirroring and vendoring
// report while they work, and what delivers them.
//
// Set the Observe field of a Fetcher:
//
//	f.Observe = event.Observer(func(e event.Event) {
//		switch e := e.(type) {
//		case event.FetchedEvent:
//			log.Printf("installed %s %s", e.Addr, e.Version)
//		case event.FailedEvent:
//			log.Print(e.Err)
//		}
//	})
//
// Every event's type ends in Event and has a method Provider. Packages that do
// further work, such as lockhashes, have events of their own, which satisfy [Event]
// too: a type switch should ignore what it doesn't know. Observers are called for
// one event at a time, and hold up the work until they return.
package event

import (
	"context"
	"sync"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/link"
)

// Event is something that happened during an Install, a Plan or an Ensure: one
// of the types of this file. Events of one provider come in order, those of
// different providers are mixed. What an event says is also in what the method
// returns, but for WarningEvent, HashingEvent, HashProgressEvent, ProgressEvent,
// PhaseEvent and KeptEvent.
type Event interface {
	// Provider is the provider that the event is about; zero: it is about several.
	Provider() getproviders.Provider
}

type (
	// QueuedEvent comes first, with all required providers, built-in ones included.
	QueuedEvent struct{ Requirements getproviders.Requirements }
	// BuiltInEvent says that a required provider is part of the product.
	BuiltInEvent struct{ Addr getproviders.Provider }
	// QueryEvent comes when the version of a provider is going to be decided;
	// Locked: by the lock file.
	QueryEvent struct {
		Addr        getproviders.Provider
		Constraints getproviders.Constraints
		Locked      bool
	}
	// LeftOutEvent says which versions a policy leaves out that are newer than the selected one. It comes before SelectedEvent.
	LeftOutEvent struct {
		Addr getproviders.Provider
		getproviders.LeftOut
	}
	// SelectedEvent comes when it is.
	SelectedEvent struct {
		Addr    getproviders.Provider
		Version getproviders.Version
	}
	// WarningEvent carries what a registry wants its users to read. It comes
	// before SelectedEvent or FailedEvent.
	WarningEvent struct {
		Addr     getproviders.Provider
		Warnings []string
	}
	// PresentEvent comes in place of FetchingEvent and FetchedEvent, when the package
	// is in Target already.
	PresentEvent struct {
		Addr    getproviders.Provider
		Version getproviders.Version
	}
	// HashingEvent comes when a package that is in Target or in the cache is going
	// to be hashed, because no receipt tells its hashes. It comes for each of the two.
	// Where packages are only verified, Platform is set and a HashedEvent follows.
	HashingEvent struct {
		Addr     getproviders.Provider
		Version  getproviders.Version
		Platform getproviders.Platform // zero: the one that is installed
		Dir      string
	}
	// HashProgressEvent comes while a package is hashed, for every 8 MB. Done is how many
	// bytes of it were read: of files, or of an archive.
	HashProgressEvent struct {
		Addr     getproviders.Provider
		Version  getproviders.Version
		Platform getproviders.Platform // as in the HashingEvent or PhaseEvent before
		Dir      string                // as in the HashingEvent before
		Done     int64
	}
	// HashedEvent says that a package was hashed that is only verified.
	HashedEvent struct {
		Addr     getproviders.Provider
		Version  getproviders.Version
		Platform getproviders.Platform
		Dir      string
	}
	// VerifyEvent comes before packages are verified: how many there are, and their
	// bytes, by the directory of each; 0 if that isn't known.
	VerifyEvent struct{ Bytes map[string]int64 }
	// LinkedEvent comes in place of FetchingEvent and FetchedEvent, when a package of
	// the shared cache has been linked into Target. Reason says why no better link
	// mode was possible; nil: there is none.
	LinkedEvent struct {
		Addr           getproviders.Provider
		Version        getproviders.Version
		Dir            string // in Target
		Cache          string // the cache's directory
		Link           link.Mode
		Reason         error
		Authentication getproviders.AuthenticationResult // from when the package was fetched; zero if that isn't known
	}
	// FetchingEvent comes when a package starts to be fetched. Source is the one
	// that has it: see getproviders.Package.
	FetchingEvent struct {
		Addr     getproviders.Provider
		Version  getproviders.Version
		Location getproviders.Location
		Source   string
	}
	// ProgressEvent comes while an archive is downloaded, at most ten times a second;
	// Done and Total are bytes, Total is -1 if unknown. Done begins with 0, or with
	// what an earlier run downloaded, and ends with the whole archive; if the download
	// has to begin again, it is 0 again.
	ProgressEvent struct {
		Addr        getproviders.Provider
		Version     getproviders.Version
		Platform    getproviders.Platform
		Done, Total int64
	}
	// PhaseEvent comes when something else than downloading is begun with a package.
	PhaseEvent struct {
		Addr     getproviders.Provider
		Version  getproviders.Version
		Platform getproviders.Platform
		Phase    Phase
	}
	// KeptEvent comes when a download ends early, and its bytes are kept for a later run.
	KeptEvent struct {
		Addr     getproviders.Provider
		Version  getproviders.Version
		Platform getproviders.Platform
		Bytes    int64
	}
	// FetchedEvent comes when the package is published. Source and Skipped are those
	// of getproviders.Package: which source had it, and which failed before. Link
	// and Reason are those of LinkedEvent, set if the package went through the cache.
	FetchedEvent struct {
		Addr           getproviders.Provider
		Version        getproviders.Version
		Dir            string
		Authentication getproviders.AuthenticationResult
		Source         string
		Skipped        error
		Link           link.Mode
		Reason         error
	}
	// FailedEvent is the last event of a provider that could not be installed.
	FailedEvent struct {
		Addr getproviders.Provider
		Err  error // a *Fault
	}
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
	switch p {
	case Unpacking:
		return "unpacking"
	case Verifying:
		return "verifying"
	case Linking:
		return "linking"
	default:
		return "downloading"
	}
}

func (QueuedEvent) Provider() getproviders.Provider         { return getproviders.Provider{} }
func (e BuiltInEvent) Provider() getproviders.Provider      { return e.Addr }
func (e QueryEvent) Provider() getproviders.Provider        { return e.Addr }
func (e SelectedEvent) Provider() getproviders.Provider     { return e.Addr }
func (e LeftOutEvent) Provider() getproviders.Provider      { return e.Addr }
func (e WarningEvent) Provider() getproviders.Provider      { return e.Addr }
func (e PresentEvent) Provider() getproviders.Provider      { return e.Addr }
func (e HashingEvent) Provider() getproviders.Provider      { return e.Addr }
func (e HashProgressEvent) Provider() getproviders.Provider { return e.Addr }
func (e HashedEvent) Provider() getproviders.Provider       { return e.Addr }
func (VerifyEvent) Provider() getproviders.Provider         { return getproviders.Provider{} }
func (e LinkedEvent) Provider() getproviders.Provider       { return e.Addr }
func (e FetchingEvent) Provider() getproviders.Provider     { return e.Addr }
func (e ProgressEvent) Provider() getproviders.Provider     { return e.Addr }
func (e PhaseEvent) Provider() getproviders.Provider        { return e.Addr }
func (e KeptEvent) Provider() getproviders.Provider         { return e.Addr }
func (e FetchedEvent) Provider() getproviders.Provider      { return e.Addr }
func (e FailedEvent) Provider() getproviders.Provider       { return e.Addr }

// hashStep is how many bytes are read between two HashProgressEvents. It isn't a time, so that the same
// package has the same events each time; a slow disk reads as much within a second.
const hashStep = 8_000_000

// Count returns a function that is to be called with the number of bytes after each read of a
// package, from one goroutine at a time. It emits e for every 8 MB, with Done set.
func (e HashProgressEvent) Count(emit func(Event)) func(bytes int64) {
	reported := int64(0)
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

// Sink delivers events to an observer, one at a time. It is safe for many goroutines.
type Sink struct{ mu sync.Mutex }

// Send calls observe, after the calls for other events have returned.
func (s *Sink) Send(ctx context.Context, observe func(context.Context, Event), e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	observe(ctx, e)
}
