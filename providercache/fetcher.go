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

// Fetcher gets packages: it asks its Source where a package is, downloads and verifies it, and unpacks it
// into a private directory. Installers, lock files, mirrors and vendoring use it; they may share one
// Fetcher at the same time, and with it the Limits and the cached answers of its Source.
//
// It is a plain struct: set the fields, then use it from as many goroutines as you like. It must not be copied, nor its
// fields changed, after the first use.
type Fetcher struct {
	Source   getproviders.Source   // nil: the registry of each provider, asked with the Client
	Client   *http.Client          // for archives; nil: one of the engine's own. It has to add credentials itself
	Platform getproviders.Platform // zero: the current one
	Product  getproviders.Product  // for built-in providers and messages
	Limits   Limits
	// Observe gets the events, one at a time, each with the context of the
	// call that caused it; nil drops events. It must not call the Fetcher.
	Observe func(context.Context, event.Event)
	Now     func() time.Time // nil: time.Now

	// StateDir is the directory for receipts, which let later runs identify a package without reading it; "": no receipts.
	// No other user may be able to write to it. With Verify, receipts are ignored and every package is hashed.
	//
	// In a cache that only this user and root can write to, a receipt counts even if the ctime of a file has changed,
	// because deleting a hard link changes it. With StrictTimes the package is hashed instead; see docs/trust.md.
	StateDir    string
	Verify      bool
	StrictTimes bool

	HashPolicy HashPolicy // which unsigned hashes are trusted; zero: those of the Product's own registry

	// ArchiveDir is a directory that keeps archives by checksum. An archive that is needed again, for a lock
	// file and then for a mirror, is read from there and verified again instead of downloaded. "": archives
	// aren't kept. The caller removes the directory when all is done; on the file system of the mirror or of the
	// cache it takes no extra room. Archives whose checksum isn't known before the download aren't kept.
	ArchiveDir string

	// Policy is called for every package after all other checks and before the package is used, whether it was
	// fetched, is in the cache or is in its place already, for an Installer, a lock file, a mirror or vendoring. An
	// error refuses the package: its provider fails with a *Fault that matches getproviders.ErrRefused, and the
	// package in place stays there. Policy is called from many goroutines. nil refuses nothing.
	Policy func(ctx context.Context, c getproviders.Candidate) error

	// Choice is asked about versions before one is chosen; those that it refuses are left out
	// and don't fail, see event.LeftOut. It isn't asked about locked versions and those that a
	// caller names: the Policy refuses these. The zero Choice leaves none out.
	Choice Choice

	once   sync.Once
	opened *fetch.Fetcher
}

// Limits bounds what a Fetcher does at once, over all calls of its methods, and the size of a package. 0 means the
// default that is given below. Queries counts for each call; the Source and the Client have limits of their own.
type Limits struct {
	Queries      int   // metadata requests at once; 32
	Downloads    int   // archives at once; 32
	PerHost      int   // of them, from one host; 16
	Unpacks      int   // archives being unpacked at once; GOMAXPROCS
	PackageBytes int64 // size of one archive, and unpacked size of one package; 8 GiB
	PackageFiles int   // entries of one package; 10 000
}

// Opened returns f with all defaults set, for the packages of this module: the result, made once, has an internal type.
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

// decided replaces unset limits by the defaults.
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
	// Choice says which versions may be chosen. Its fields are functions of a context and a getproviders.Candidate whose error leaves the
	// version out: Listed is asked about versions as their source lists them, Dated and Signed about those that it lets through.
	// LeavesAny reports whether it has any function.
	Choice = resolve.Choice
)

// The modes of Install and Plan.
const (
	Normal  = resolve.Normal  // locked versions are kept
	Upgrade = resolve.Upgrade // the newest matching versions are selected, whatever is locked
)

// HashPolicy says which sources are trusted for the hashes of packages that aren't read. The zero value is TrustRegistryHashes.
type HashPolicy = fetch.HashPolicy

// The hash policies.
const (
	// TrustRegistryHashes records what the product's own registry lists, without reading the package.
	TrustRegistryHashes = fetch.TrustRegistryHashes
	// TrustMirrorHashes also records what any other registry lists in this way, and what network mirrors list.
	TrustMirrorHashes = fetch.TrustMirrorHashes
	// ComputeHashes trusts no source, and reads every package whose hashes aren't known yet.
	ComputeHashes = fetch.ComputeHashes
)
