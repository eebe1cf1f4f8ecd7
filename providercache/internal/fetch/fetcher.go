// Package fetch gets one provider package from where its source says it is,
// verifies it, and leaves it in a private directory. Installing, lock files, mirrors
// and vendoring all fetch packages this way.
//
// A [Request] has the provider, its version, the package's location, the documents that authenticate the
// package, and the hashes that the lock file records. The result is the unpacked package in a stage, its
// hashes and its AuthenticationResult, or a *getproviders.Fault that names the step.
//
// The bytes of a package are read once: the archive is downloaded, hashed and unpacked at the same
// time, while the documents that authenticate it are loaded. A package that fails a check never
// leaves the stage. [HashPackage] reads a package that is on this machine already.
//
// A Fetcher is safe for concurrent use. [Limits] hold over all its calls;
// [HashPolicy] says which hashes may be recorded without reading the package.
package fetch

import (
	"context"
	"net/http"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// Fetcher gets packages: it asks its Source where a package is, downloads and verifies it, and
// unpacks it into a private directory. It has the fields of providercache.Fetcher with all
// defaults set: only Observe, StateDir, ArchiveDir, Policy, Choice and the bools may be zero.
type Fetcher struct {
	Source      getproviders.Source
	Client      *http.Client
	Platform    getproviders.Platform
	Product     getproviders.Product
	Limits      Limits
	Observe     func(context.Context, event.Event)
	Now         func() time.Time
	StateDir    string // "" too if other users can write there
	Verify      bool
	StrictTimes bool
	HashPolicy  HashPolicy
	ArchiveDir  string
	Policy      func(context.Context, getproviders.Candidate) error
	Choice      resolve.Choice

	events             par.Pulse
	downloads, unpacks *par.Limit
	hosts              par.Shared[string, *par.Limit] // of downloads
}

// Open makes a Fetcher usable after its fields are set.
func Open(f *Fetcher) *Fetcher {
	f.downloads, f.unpacks = par.NewLimit(f.Limits.Downloads), par.NewLimit(f.Limits.Unpacks)
	return f
}

// Resolver returns a Resolver for the versions of the Source.
func (f *Fetcher) Resolver() resolve.Resolver {
	return resolve.Resolver{
		Source: f.Source, Product: f.Product, Queries: f.Limits.Queries, Emit: f.Emit, Choice: f.Choice, Platform: f.Platform, Date: f.date, Signer: f.signer,
	}
}

// EmitHashing returns a function to call with the number of bytes after each read of
// a package that is hashed. Platform and Path of the Outcome may be empty.
func (f *Fetcher) EmitHashing(ctx context.Context, of event.Outcome) func(bytes int64) {
	return of.Count(func(e event.Event) { f.Emit(ctx, e) })
}

// Emit calls the observer, if any.
func (f *Fetcher) Emit(ctx context.Context, e event.Event) {
	if f.Observe != nil {
		f.events.Do(func() { f.Observe(ctx, e) })
	}
}

// HashPolicy says which sources are trusted for the hashes of packages that aren't read. A
// package that was read, now or in an earlier run, is recorded with its own hashes only.
type HashPolicy int

const (
	// TrustRegistryHashes records the h1 that the product's own registry (its DefaultHost) lists for a
	// package, without reading the package. The registry also has to list the zh, which has to be the
	// one that is signed for the platform. Hashes that it lists for other platforms are recorded as
	// well. Terraform has no such registry; OpenTofu trusts one, and records all that it lists.
	TrustRegistryHashes HashPolicy = iota
	// TrustMirrorHashes also records the hashes that any other registry lists in this way, and those that
	// network mirrors list. They are as trustworthy as the registry or mirror, which the user configured.
	TrustMirrorHashes
	// ComputeHashes trusts no source, and reads every package whose hashes aren't known yet.
	ComputeHashes
)

// Limits bounds what a Fetcher does at once, over all calls of its methods, and the size of a package. All fields are set.
type Limits struct {
	Queries   int // metadata requests at once; 32
	Downloads int // archives at once; 32
	PerHost   int // of them, from one host; 16
	Unpacks   int // archives being unpacked at once; GOMAXPROCS
	Package   unpack.Limits
}

// EmitPhase reports that a phase of the work on a package begins.
func (f *Fetcher) EmitPhase(ctx context.Context, of event.Outcome, phase event.Phase) {
	f.Emit(ctx, event.Event{Kind: event.Begun, Outcome: of, Phase: phase})
}

// Request asks for one package.
type Request struct {
	getproviders.Selection
	Package getproviders.Package
	// Recorded are the lock file's hashes for this version, of any scheme; empty: the lock file has none.
	Recorded []getproviders.Hash
	// Partials is the directory for partly downloaded archives, which later runs resume; "": none.
	Partials string
	// Final is the path where the package will be published; "": unknown.
	Final string
	Modes []link.Mode // how an unpacked package is linked or copied into the stage
	// Admit is called before the bytes of an archive are read, with the size that its server announces, or
	// -1. An error ends the download. It may be called several times. nil admits every archive.
	Admit func(total int64) error
	// Follow is called when the first bytes of an archive arrive in its file, and again if the download restarts. mark
	// counts the bytes in the file; size is the total, or -1 if it isn't known. Follow has to return at once; a reader may
	// then read the file while it grows. The bytes are unverified until the fetch has succeeded. nil: no reader.
	Follow func(mark *par.Mark, size int64)

	entered bool // it has passed Enter
}

// Outcome is what is known of the package while it is fetched.
func (t Request) Outcome() event.Outcome {
	return event.Outcome{Selection: t.Selection, Platform: t.Package.Platform}
}
