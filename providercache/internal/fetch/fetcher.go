// Package fetch gets one provider package from where its source says it is,
// verifies it, and leaves it in a private directory. Installing, lock files, mirrors
// and vendoring all fetch packages this way.
//
// What goes in: a [Request], which holds the provider, its version, the package's
// location with the documents that authenticate it, and the hashes that the lock
// file records. What comes out: the unpacked package in a stage, with its hashes
// and how it was authenticated; or a *getproviders.Fault that names the step.
//
// One package is one pass over its bytes: the archive is downloaded, hashed and
// unpacked at the same time, while the documents that authenticate it are loaded.
// Nothing that failed a check ever leaves the stage. [HashPackage] reads a package
// that is on this machine already.
//
// A Fetcher is safe for many goroutines. [Limits] hold over all its calls;
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

// Fetcher gets packages: it asks its Source where a package is, downloads and verifies it, and hands it over in a
// private directory. It is what providercache.Fetcher is once all is decided, and its fields are those: none of them may be
// nil or zero but Observe, StateDir, ArchiveDir, Policy and what is false.
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

// Open makes a Fetcher ready whose fields are set.
func Open(f *Fetcher) *Fetcher {
	f.downloads, f.unpacks = par.NewLimit(f.Limits.Downloads), par.NewLimit(f.Limits.Unpacks)
	return f
}

// Resolver chooses versions from the Source.
func (f *Fetcher) Resolver() resolve.Resolver {
	return resolve.Resolver{
		Source: f.Source, Product: f.Product, Queries: f.Limits.Queries, Emit: f.Emit, Choice: f.Choice, Platform: f.Platform, Date: f.date, Signer: f.signer,
	}
}

// EmitHashing returns what is to be called with the number of bytes after each read of a package
// that is hashed. Its Platform and Path may be empty.
func (f *Fetcher) EmitHashing(ctx context.Context, of event.Outcome) func(bytes int64) {
	return of.Count(func(e event.Event) { f.Emit(ctx, e) })
}

// Emit tells the observer, if there is one.
func (f *Fetcher) Emit(ctx context.Context, e event.Event) {
	if f.Observe != nil {
		f.events.Do(func() { f.Observe(ctx, e) })
	}
}

// HashPolicy says which sources are trusted for the hashes of packages that aren't
// read. A package that was read for the same lock entry is recorded with its own
// hashes only, and so is one whose content is known from an earlier run.
type HashPolicy int

const (
	// TrustRegistryHashes records the h1 that the product's own registry (its DefaultHost)
	// lists for a package, without reading the package. The registry has to list the zh, too,
	// and it has to be the one that is signed for the platform. Hashes that it lists
	// for platforms that weren't asked for are recorded as well. Terraform has no such
	// registry; OpenTofu trusts one, and records all that it lists.
	TrustRegistryHashes HashPolicy = iota
	// TrustMirrorHashes records the hashes that any registry lists in this way, and those
	// that network mirrors list. They are as trustworthy as the registry, or the mirror,
	// of which only those are asked that the user configured.
	TrustMirrorHashes
	// ComputeHashes trusts no source, and reads every package whose content isn't
	// known yet.
	ComputeHashes
)

// Limits bounds what a Fetcher does at once, over all calls of its methods, and what a package may be. All are set.
type Limits struct {
	Queries   int // metadata requests at once; 32
	Downloads int // archives at once; 32
	PerHost   int // of them, from one host; 16
	Unpacks   int // archives being unpacked at once; GOMAXPROCS
	Package   unpack.Limits
}

// EmitPhase reports what is done to a package from now on.
func (f *Fetcher) EmitPhase(ctx context.Context, of event.Outcome, phase event.Phase) {
	f.Emit(ctx, event.Event{Kind: event.Begun, Outcome: of, Phase: phase})
}

// Request is a package that is going to be fetched.
type Request struct {
	getproviders.Selection
	Package getproviders.Package
	// Recorded are the lock file's hashes for this version, of the schemes
	// that are known; empty: the lock file says nothing about it.
	Recorded []getproviders.Hash
	// Partials is the directory in which parts of archives are kept for later
	// runs; "": nothing is kept.
	Partials string
	// Final is where the package is going to be; "": nowhere that is known.
	Final string
	Modes []link.Mode // how one that is unpacked already gets into the stage
	// Admit is asked before the bytes of an archive are read, with the size that its
	// server announces, -1 if it doesn't; an error ends the download. It may be asked
	// several times. nil: every archive is admitted.
	Admit func(total int64) error
	// Follow is called when the bytes of an archive begin to arrive in its file, and again if they
	// begin again: mark is how many the file has, and size how many there will be, -1 if that isn't
	// known. It returns at once, and who follows reads the file while it grows. What is read has
	// passed no check before the fetching has succeeded. nil: no one follows.
	Follow func(mark *par.Mark, size int64)

	entered bool // it has its place among the downloads
}

// Outcome is what is known of the package while it is fetched.
func (t Request) Outcome() event.Outcome {
	return event.Outcome{Selection: t.Selection, Platform: t.Package.Platform}
}
