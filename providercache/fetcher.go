package providercache

import (
	"context"
	"net/http"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/getproviders/par"
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
	Observe func(context.Context, Event)
	Now     func() time.Time // nil: time.Now

	// StateDir is where receipts are kept, which tell later runs what a package
	// is without reading it; "": none are kept. It has to be the user's alone.
	// Verify has no receipt count: all is hashed.
	StateDir string
	Verify   bool

	HashPolicy HashPolicy // which hashes count, of those that nobody has signed; zero: the registries'

	events sink
	shared par.Memo[struct{}, gates]
}

func (f *Fetcher) client() *http.Client {
	if f.Client == nil {
		return hosts.DefaultClient()
	}
	return f.Client
}

func (f *Fetcher) platform() getproviders.Platform {
	if f.Platform == (getproviders.Platform{}) {
		return getproviders.CurrentPlatform()
	}
	return f.Platform
}

func (f *Fetcher) now() time.Time {
	now := f.Now
	if now == nil {
		now = time.Now
	}
	return now()
}
