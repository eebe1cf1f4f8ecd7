package providercache

import (
	"cmp"
	"context"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// Fetcher gets packages: it asks its Source where a package is, downloads and verifies it, and hands it over in a
// private directory. Installer, and what fills lock files, mirrors and repositories, stand on it; one Fetcher may serve
// them all at the same time, and then they share its Limits and what its Source remembers.
//
// It is a plain struct: set the fields, then use it from as many goroutines as you like. It must not be copied, nor its
// fields changed, after the first use.
type Fetcher struct {
	Source   getproviders.Source   // nil: the registry of each provider, asked with the Client
	Client   *http.Client          // for archives; nil: one of the engine's own. Credentials are for it to add
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
	// provider fails, as a *Fault that matches getproviders.ErrRefused; what is in place stays there. It is called
	// from many goroutines. nil: nothing is refused.
	Policy func(ctx context.Context, c getproviders.Candidate) error

	// Choice is asked about versions before one is chosen, which are left out then and don't fail; see event.LeftOut. Locked
	// versions, and those that a caller names, aren't chosen: they are for the Policy to refuse. Zero: none is left out.
	Choice Choice

	once   sync.Once
	opened *fetch.Fetcher
}

// Limits bounds what a Fetcher does at once, over all calls of its methods, and what a package may be. Zero fields mean
// the defaults. Queries counts for each call; the Source and the Client have limits of their own.
type Limits struct {
	Queries      int   // metadata requests at once; 32
	Downloads    int   // archives at once; 32
	PerHost      int   // of them, from one host; 16
	Unpacks      int   // archives being unpacked at once; GOMAXPROCS
	PackageBytes int64 // size of one archive, and unpacked size of one package; 8 GiB
	PackageFiles int   // entries of one package; 10 000
}

// Opened is f with every default decided, once, for the packages of this module: the result has an internal type.
func (f *Fetcher) Opened() *fetch.Fetcher {
	f.once.Do(func() {
		f.opened = fetch.Open(&fetch.Fetcher{
			Source: f.Source, Client: f.Client, Platform: cmp.Or(f.Platform, getproviders.CurrentPlatform()), Product: f.Product.OrDefault(), Limits: f.Limits.decided(),
			Observe: f.Observe, Now: f.Now, StateDir: store.UsableState(f.StateDir), Verify: f.Verify, StrictTimes: f.StrictTimes,
			HashPolicy: f.HashPolicy, ArchiveDir: f.ArchiveDir, Policy: f.Policy, Choice: f.Choice,
		})
		if f.Client == nil {
			f.opened.Client = hosts.DefaultClient()
		}
		if f.Source == nil {
			f.opened.Source = &getproviders.RegistrySource{Client: f.Client, Product: f.Product}
		}
		if f.Now == nil {
			f.opened.Now = time.Now
		}
	})
	return f.opened
}

// decided fills in what isn't set.
func (l Limits) decided() fetch.Limits {
	usual := unpack.DefaultLimits()
	return fetch.Limits{
		Queries:   cmp.Or(max(l.Queries, 0), 32),
		Downloads: cmp.Or(max(l.Downloads, 0), 32),
		PerHost:   cmp.Or(max(l.PerHost, 0), 16),
		Unpacks:   cmp.Or(max(l.Unpacks, 0), runtime.GOMAXPROCS(0)),
		Package: unpack.Limits{
			Bytes: min(cmp.Or(max(l.PackageBytes, 0), usual.Bytes), 1<<62),
			Files: min(cmp.Or(max(l.PackageFiles, 0), usual.Files), 1<<30),
		},
	}
}

type (
	// Mode says how locked versions are treated.
	Mode = resolve.Mode
	// Choice says which versions may be chosen.
	Choice = resolve.Choice
)

// The modes of Install and Plan.
const (
	Normal  = resolve.Normal  // locked versions are kept
	Upgrade = resolve.Upgrade // the newest matching versions are selected, whatever is locked
)

// HashPolicy says which sources are trusted for the hashes of packages that aren't read. The zero value is TrustRegistryHashes.
type HashPolicy = fetch.HashPolicy

// The policies.
const (
	// TrustRegistryHashes records what the product's own registry lists, without reading the package.
	TrustRegistryHashes = fetch.TrustRegistryHashes
	// TrustMirrorHashes records what any registry lists in this way, and what network mirrors list.
	TrustMirrorHashes = fetch.TrustMirrorHashes
	// ComputeHashes trusts no source, and reads every package whose content isn't known yet.
	ComputeHashes = fetch.ComputeHashes
)
