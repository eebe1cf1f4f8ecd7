package providercache

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/link"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// Filled is what became of one Wanted.
type Prefetched struct {
	Selection resolve.Selection
	Platform  getproviders.Platform
	Present   bool // it was in the cache already
	Err       error

	got receipt.Provenance
}

// Fill puts packages into the Cache, for any number of working directories to
// come; it needs neither a Target nor a configuration. What is there and would
// be used is left alone. All are attempted; the results are in the order of
// wanted, and the error joins the [*ProviderError] of each that failed.
//
// Where the cache has another package of a version, whose receipt vouches for
// it, that one stays, and the one that is wanted fails.
func (in *Installer) Prefetch(ctx context.Context, wanted []resolve.PackageSpec) ([]Prefetched, error) {
	if in.Fetcher.Source == nil || in.Cache == nil {
		return nil, errors.New("to fill a cache, an Installer needs a Source and a Cache")
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	defer in.prepare(in.Cache.Dir)()
	download.SweepPartials(in.partials(), in.Fetcher.Time())
	filled, errs := resolve.Map(ctx, in.Fetcher.Emit, in.Fetcher.Limits.WithDefaults().Queries, wanted, in.fill)
	for i, err := range errs {
		if err != nil {
			filled[i] = Prefetched{Selection: wanted[i].Selected(), Platform: in.Fetcher.EffectivePlatform(), Err: err}
		}
	}
	return filled, errors.Join(errs...)
}

// fill puts one package into the cache.
func (in *Installer) fill(ctx context.Context, w resolve.PackageSpec) (Prefetched, error) {
	selected := w.Selected()
	if err := cmp.Or(w.Provider.Validate(), w.Version.Validate()); err != nil {
		return Prefetched{}, selected.Failed(resolve.StepQuery, err)
	}
	if w.Version == (getproviders.Version{}) {
		var err error
		if selected, err = in.Fetcher.Resolver().Newest(ctx, selected, []getproviders.Requirement{{Constraints: w.Constraints}}); err != nil {
			return Prefetched{}, err
		}
	}
	t := fetcher.Request{Selection: selected, Partials: in.partials()}
	t.Recorded = slices.DeleteFunc(slices.Clone(w.Hashes), func(h getproviders.Hash) bool { return !h.Supported() })
	if found, ok := in.arrived(ctx, t); ok {
		in.Fetcher.Emit(ctx, event.PresentEvent{Addr: t.Provider, Version: t.Version})
		return Prefetched{Selection: selected, Platform: in.Fetcher.EffectivePlatform(), Present: true, got: found}, nil
	}
	pkg, err := in.Fetcher.Source.Package(ctx, t.Provider, t.Version, in.Fetcher.EffectivePlatform())
	if err != nil {
		return Prefetched{}, t.Failed(resolve.StepMetadata, err)
	}
	t.Package = pkg
	return in.fillFrom(ctx, t)
}

// fillFrom gets a package that the source has told of.
func (in *Installer) fillFrom(ctx context.Context, t fetcher.Request) (Prefetched, error) {
	unlock, err := in.Cache.LockPackage(ctx, in.packageName(t.Selection))
	if err != nil {
		return Prefetched{}, t.Failed(resolve.StepFetch, err)
	}
	defer unlock()
	filled := Prefetched{Selection: t.Selection, Platform: in.Fetcher.EffectivePlatform()}
	if found, ok := in.arrived(ctx, t); ok {
		filled.Present, filled.got = true, found
		return filled, nil
	}
	stage, err := staging.New(in.Cache.Dir)
	if err != nil {
		return Prefetched{}, t.Failed(resolve.StepPublish, err)
	}
	defer stage.Remove()
	in.Fetcher.Emit(ctx, fetchBegun(t))
	if filled.got, err = in.obtainCopy(ctx, t, stage); err != nil {
		return Prefetched{}, err
	}
	if err := in.keepInCache(ctx, t.Selection, stage, filled.got); err != nil {
		return Prefetched{}, t.Failed(resolve.StepPublish, err)
	}
	in.Fetcher.Emit(ctx, fetchDone(t, Outcome{Authentication: filled.got.Authentication, placed: receipt.Pending{Dir: in.cachePath(t.Selection)}}))
	return filled, nil
}

// obtainCopy is obtain with the difference that what is unpacked already, in a
// mirror, is copied: the cache may go where the mirror isn't.
func (in *Installer) obtainCopy(ctx context.Context, t fetcher.Request, stage *staging.Stage) (receipt.Provenance, error) {
	dir, ok := t.Package.Location.(getproviders.LocalDirectory)
	if !ok {
		return in.Fetcher.Obtain(ctx, t, stage)
	}
	if _, _, err := link.Tree(ctx, string(dir), stage.PackagePath(), []link.Mode{link.Clone, link.Copy}); err != nil {
		return receipt.Provenance{}, t.Failed(resolve.StepFetch, err)
	}
	return in.Fetcher.JudgeDirectory(ctx, t, stage.PackagePath())
}

// keepInCache publishes a package in the cache and gives it a receipt.
func (in *Installer) keepInCache(ctx context.Context, s resolve.Selection, stage *staging.Stage, got receipt.Provenance) error {
	at := in.cacheShelf()
	_ = os.Remove(stage.ArchivePath())
	shared, err := in.publishShared(ctx, s, stage, got, at)
	if err == nil {
		at.Record(ctx, shared)
	}
	return err
}
