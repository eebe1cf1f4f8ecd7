package event

import (
	"context"
	"sync"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/link"
)

// Event is something that happened during an Install, a Plan or an Ensure: one
// of the types of this file. Events of one provider come in order, those of
// different providers are mixed. Whatever is told by an event is also in what
// the method returns, but for WarningEvent, Reading and ProgressEvent.
type Event interface {
	// Provider is what the event is about; the zero Provider: about several.
	Provider() getproviders.Provider
}

type (
	// Pending comes first: what is going to be worked on, built-in providers included.
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
	// SelectedEvent comes when it is.
	SelectedEvent struct {
		Addr    getproviders.Provider
		Version getproviders.Version
	}
	// WarningEvent carries what a registry wants its users to read. It comes
	// before SelectedEvent or Failed.
	WarningEvent struct {
		Addr     getproviders.Provider
		Warnings []string
	}
	// PresentEvent comes in place of the Fetch events.
	PresentEvent struct {
		Addr    getproviders.Provider
		Version getproviders.Version
	}
	// Reading comes when a package that is there is going to be hashed, because
	// no receipt tells what it is: in Target, in the cache, or in both.
	HashingEvent struct {
		Addr    getproviders.Provider
		Version getproviders.Version
		Dir     string
	}
	// LinkedEvent comes in place of the Fetch events, when a package of the
	// shared cache has been put into Target. Reason says why it wasn't done in
	// a better way; nil: there is none.
	LinkedEvent struct {
		Addr           getproviders.Provider
		Version        getproviders.Version
		Dir            string // in Target
		Cache          string // the cache's directory
		Link           link.Mode
		Reason         error
		Authentication getproviders.AuthenticationResult // as it was when the package was fetched, as far as that is known
	}
	// FetchingEvent comes when a package starts to be fetched. Where it is, is
	// known, and which source said so: see getproviders.Package.
	FetchingEvent struct {
		Addr     getproviders.Provider
		Version  getproviders.Version
		Location getproviders.Location
		Source   string
	}
	// ProgressEvent comes while an archive is received over the network, at
	// most ten times a second; Done and Total are bytes, Total is -1 if
	// unknown. The last has all of it. The first has a Done of 0, or what an earlier
	// run received; and if the archive has to be asked for anew, it is 0 again.
	ProgressEvent struct {
		Addr        getproviders.Provider
		Version     getproviders.Version
		Done, Total int64
	}
	// FetchedEvent comes when the package is in its place. Source and Skipped
	// are those of getproviders.Package: who had it, and who failed before. Link
	// and Reason are set if it went by way of the cache.
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
	// Failed is the last event of a provider that could not be installed.
	FailedEvent struct {
		Addr getproviders.Provider
		Err  error // a *ProviderError
	}
)

func (QueuedEvent) Provider() getproviders.Provider     { return getproviders.Provider{} }
func (e BuiltInEvent) Provider() getproviders.Provider  { return e.Addr }
func (e QueryEvent) Provider() getproviders.Provider    { return e.Addr }
func (e SelectedEvent) Provider() getproviders.Provider { return e.Addr }
func (e WarningEvent) Provider() getproviders.Provider  { return e.Addr }
func (e PresentEvent) Provider() getproviders.Provider  { return e.Addr }
func (e HashingEvent) Provider() getproviders.Provider  { return e.Addr }
func (e LinkedEvent) Provider() getproviders.Provider   { return e.Addr }
func (e FetchingEvent) Provider() getproviders.Provider { return e.Addr }
func (e ProgressEvent) Provider() getproviders.Provider { return e.Addr }
func (e FetchedEvent) Provider() getproviders.Provider  { return e.Addr }
func (e FailedEvent) Provider() getproviders.Provider   { return e.Addr }

// Observer makes a Fetcher's Observe of a function that has no use for contexts.
func Observer(observe func(Event)) func(context.Context, Event) {
	return func(_ context.Context, e Event) { observe(e) }
}

// sink hands events to an observer, one at a time.
type Sink struct{ mu sync.Mutex }

func (s *Sink) Send(ctx context.Context, observe func(context.Context, Event), e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	observe(ctx, e)
}
