package fetcher

import (
	"context"
	"net/http"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// Fetcher gets packages: it asks its Source where a package is, downloads and
// verifies it, and hands it over in a private directory. Installer, and what fills
// lock files, mirrors and repositories, stand on it; one Fetcher may serve them all
// at the same time, and then they share its Limits and what its Source remembers.
//
// It is a plain struct: set the fields, then use it from as many goroutines as you
// like. It must not be copied, nor its fields changed, after the first use.
type Fetcher struct {
	Source   getproviders.Source   // required
	Client   *http.Client          // for archives; nil: hosts.DefaultClient. Credentials are for it to add: see package hosts
	Platform getproviders.Platform // zero: the current one
	Product  getproviders.Product  // for built-in providers and messages
	Limits   Limits
	// Observe is told of events, one at a time, with the context of the call that they
	// belong to; nil: nobody is told. It must not call what it observes.
	Observe func(context.Context, event.Event)
	Now     func() time.Time // nil: time.Now

	// StateDir is where receipts are kept, which tell later runs what a package
	// is without reading it; "": none are kept. It has to be the user's alone.
	// Verify has no receipt count: all is hashed.
	StateDir string
	Verify   bool

	HashPolicy HashPolicy // which hashes count, of those that nobody has signed; zero: the registries'

	events event.Sink
	shared par.Memo[struct{}, semaphores]
}

// stateDir is where receipts are kept; "" if that isn't this user's alone.
func (f *Fetcher) EffectiveStateDir() string { return store.UsableState(f.StateDir) }

// resolver chooses versions from the Source.
func (f *Fetcher) Resolver() resolve.Resolver {
	return resolve.Resolver{Source: f.Source, Product: f.Product, Queries: f.Limits.WithDefaults().Queries, Emit: f.Emit}
}

func (f *Fetcher) HTTPClient() *http.Client {
	if f.Client == nil {
		return hosts.DefaultClient()
	}
	return f.Client
}

func (f *Fetcher) EffectivePlatform() getproviders.Platform {
	if f.Platform == (getproviders.Platform{}) {
		return getproviders.CurrentPlatform()
	}
	return f.Platform
}

func (f *Fetcher) Time() time.Time {
	now := f.Now
	if now == nil {
		now = time.Now
	}
	return now()
}

// emit tells the observer, if there is one.
func (f *Fetcher) Emit(ctx context.Context, e event.Event) {
	if f.Observe != nil {
		f.events.Send(ctx, f.Observe, e)
	}
}
