// Package fetcher gets one provider package from where its source says it is,
// verifies it, and leaves it in a private directory. Installing, lock files, mirrors
// and vendoring all fetch packages this way.
//
// Programs rarely call it themselves. They make a Fetcher and give it to what does
// the work:
//
//	f := &fetcher.Fetcher{Source: &getproviders.RegistrySource{}}
//	results, err := lockhashes.Lock(ctx, f, lockhashes.Request{Requirements: required})
//
// What goes in: a [Request], which holds the provider, its version, the package's
// location with the documents that authenticate it, and the hashes that the lock
// file records. What comes out: the unpacked package in a stage, with its hashes
// and how it was authenticated; or a *resolve.ProviderError that names the step.
//
// One package is one pass over its bytes: the archive is downloaded, hashed and
// unpacked at the same time, while the documents that authenticate it are loaded.
// Nothing that failed a check ever leaves the stage. [HashPackage] reads a package
// that is on this machine already.
//
// A Fetcher is safe for many goroutines. [Limits] hold over all its calls;
// [HashPolicy] says which hashes may be recorded without reading the package.
package fetcher

import (
	"context"
	"net/http"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
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
	// Observe gets the events, one at a time, each with the context of the call that it
	// belongs to; nil: events are dropped. It must not call the Fetcher.
	Observe func(context.Context, event.Event)
	Now     func() time.Time // nil: time.Now

	// StateDir is where receipts are kept, which tell later runs what a package
	// is without reading it; "": none are kept. No other user may be able to write to
	// it. With Verify, receipts are ignored and every package is hashed.
	//
	// Where only this user and root can write to a cache, a receipt counts although
	// the ctime of a file has moved, because to delete a hard link moves it. With
	// StrictTimes it doesn't: the package is hashed. docs/trust.md says what that is for.
	StateDir    string
	Verify      bool
	StrictTimes bool

	HashPolicy HashPolicy // which unsigned hashes are trusted; zero: those of the Product's own registry

	// ArchiveDir is a directory for archives, by their checksums: one that is needed again,
	// for a lock file and then for a mirror, is read from there, verified again, and not downloaded
	// again. "": none are kept. Who sets it removes it when all is done; it may be
	// on the file system of the mirror, or of the cache, where it takes no further room.
	// Archives whose checksum no source tells beforehand aren't kept.
	ArchiveDir string

	// Policy is asked about every package, after all other checks and before it is used:
	// one that was fetched, is in the cache, or is in its place already, by an Installer, for a
	// lock file, a mirror or vendored packages. An error refuses the package, and is why its
	// provider fails, as a *PolicyError; what is in place stays there. It is called
	// from many goroutines. nil: nothing is refused.
	Policy func(ctx context.Context, c Candidate) error

	events event.Sink
	shared par.Memo[struct{}, semaphores]
}

// EffectiveStateDir is where receipts are kept; "" if other users can write there.
func (f *Fetcher) EffectiveStateDir() string { return store.UsableState(f.StateDir) }

// Resolver chooses versions from the Source.
func (f *Fetcher) Resolver() resolve.Resolver {
	return resolve.Resolver{Source: f.Source, Product: f.Product, Queries: f.Limits.WithDefaults().Queries, Emit: f.Emit}
}

// HTTPClient is Client, or the default one.
func (f *Fetcher) HTTPClient() *http.Client {
	if f.Client == nil {
		return hosts.DefaultClient()
	}
	return f.Client
}

// EffectivePlatform is Platform, or the current one.
func (f *Fetcher) EffectivePlatform() getproviders.Platform {
	if f.Platform == (getproviders.Platform{}) {
		return getproviders.CurrentPlatform()
	}
	return f.Platform
}

// Time asks Now.
func (f *Fetcher) Time() time.Time {
	now := f.Now
	if now == nil {
		now = time.Now
	}
	return now()
}

// EmitHashing returns what is to be called with the number of bytes after each read of a package
// that is hashed in a directory. Platform and Dir may be empty.
func (f *Fetcher) EmitHashing(ctx context.Context, t Request, dir string) func(bytes int64) {
	e := event.HashProgressEvent{Addr: t.Provider, Version: t.Version, Platform: t.Package.Platform, Dir: dir}
	return e.Count(func(e event.Event) { f.Emit(ctx, e) })
}

// Emit tells the observer, if there is one.
func (f *Fetcher) Emit(ctx context.Context, e event.Event) {
	if f.Observe != nil {
		f.events.Send(ctx, f.Observe, e)
	}
}

type (
	// StatusError says that a server answered a request for an archive with another
	// status than it should: URL is what answered, without secrets, StatusCode and Status
	// are the answer's. It matches getproviders.ErrUnauthorized for 401 and 403, and
	// getproviders.ErrUnreachable for the rest.
	StatusError = download.StatusError

	// TransferError says that an archive couldn't be downloaded, or only a part of
	// it, in spite of all attempts: Archive is its URL without secrets, Done and Total
	// are bytes (Total is -1 if unknown), Err is the last cause. It matches
	// getproviders.ErrUnreachable and the cause.
	TransferError = download.TransferError

	// UnpackError says which entry of an archive is refused, and why: Rule is the
	// [UnpackRule] that the entry breaks, which errors.Is finds, too.
	UnpackError = unpack.Error

	// UnpackRule is a rule for the content of archives. It is an error, so that
	// errors.Is finds it in an UnpackError.
	UnpackRule = unpack.Rule
)
