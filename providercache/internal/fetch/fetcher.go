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
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
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

	events event.Sink
	shared par.Memo[struct{}, semaphores]
}

// Resolver chooses versions from the Source.
func (f *Fetcher) Resolver() resolve.Resolver {
	return resolve.Resolver{
		Source: f.Source, Product: f.Product, Queries: f.Limits.Queries, Emit: f.Emit, Choice: f.Choice, Platform: f.Platform, Date: f.date, Signer: f.signer,
	}
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
