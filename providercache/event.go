package providercache

import (
	"context"
	"sync"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/link"
)

// Event is something that happened during an Install, a Plan or an Ensure: one
// of the types of this file. Events of one provider come in order, those of
// different providers are mixed. Whatever is told by an event is also in what
// the method returns, but for QueryWarning, Reading and FetchProgress.
type Event interface{ event() }

type (
	// Pending comes first: what is going to be worked on, built-in providers included.
	Pending struct{ Requirements getproviders.Requirements }
	// BuiltInAvailable says that a required provider is part of the product.
	BuiltInAvailable struct{ Provider getproviders.Provider }
	// QueryBegin comes when the version of a provider is going to be decided;
	// Locked: by the lock file.
	QueryBegin struct {
		Provider    getproviders.Provider
		Constraints getproviders.Constraints
		Locked      bool
	}
	// QueryDone comes when it is.
	QueryDone struct {
		Provider getproviders.Provider
		Version  getproviders.Version
	}
	// QueryWarning carries what a registry wants its users to read. It comes
	// before QueryDone or Failed.
	QueryWarning struct {
		Provider getproviders.Provider
		Warnings []string
	}
	// AlreadyInstalled comes in place of the Fetch events.
	AlreadyInstalled struct {
		Provider getproviders.Provider
		Version  getproviders.Version
	}
	// Reading comes when a package that is there is going to be hashed, because
	// no receipt tells what it is: in Target, in the cache, or in both.
	Reading struct {
		Provider getproviders.Provider
		Version  getproviders.Version
		Dir      string
	}
	// LinkedFromCache comes in place of the Fetch events, when a package of the
	// shared cache has been put into Target. Reason says why it wasn't done in
	// a better way; nil: there is none.
	LinkedFromCache struct {
		Provider       getproviders.Provider
		Version        getproviders.Version
		Dir            string // in Target
		Cache          string // the cache's directory
		Link           link.Mode
		Reason         error
		Authentication getproviders.AuthenticationResult // as it was when the package was fetched, as far as that is known
	}
	// FetchBegin comes when a package starts to be fetched. Where it is, is
	// known, and which source said so: see getproviders.Package.
	FetchBegin struct {
		Provider getproviders.Provider
		Version  getproviders.Version
		Location getproviders.Location
		Source   string
	}
	// FetchProgress comes while an archive is received over the network, at
	// most ten times a second; Done and Total are bytes, Total is -1 if
	// unknown. The last has all of it. The first has a Done of 0, or what an earlier
	// run received; and if the archive has to be asked for anew, it is 0 again.
	FetchProgress struct {
		Provider    getproviders.Provider
		Version     getproviders.Version
		Done, Total int64
	}
	// FetchDone comes when the package is in its place. Source and Skipped
	// are those of getproviders.Package: who had it, and who failed before. Link
	// and Reason are set if it went by way of the cache.
	FetchDone struct {
		Provider       getproviders.Provider
		Version        getproviders.Version
		Dir            string
		Authentication getproviders.AuthenticationResult
		Source         string
		Skipped        error
		Link           link.Mode
		Reason         error
	}
	// Failed is the last event of a provider that could not be installed.
	Failed struct {
		Provider getproviders.Provider
		Err      error // a *ProviderError
	}
)

func (Pending) event()          {}
func (BuiltInAvailable) event() {}
func (QueryBegin) event()       {}
func (QueryDone) event()        {}
func (QueryWarning) event()     {}
func (AlreadyInstalled) event() {}
func (Reading) event()          {}
func (LinkedFromCache) event()  {}
func (FetchBegin) event()       {}
func (FetchProgress) event()    {}
func (FetchDone) event()        {}
func (Failed) event()           {}

// Observer makes a Fetcher's Observe of a function that has no use for contexts.
func Observer(observe func(Event)) func(context.Context, Event) {
	return func(_ context.Context, e Event) { observe(e) }
}

// sink hands events to an observer, one at a time.
type sink struct{ mu sync.Mutex }

func (s *sink) send(ctx context.Context, observe func(context.Context, Event), e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	observe(ctx, e)
}

// emit tells the observer, if there is one.
func (f *Fetcher) emit(ctx context.Context, e Event) {
	if f.Observe != nil {
		f.events.send(ctx, f.Observe, e)
	}
}
