package providercache

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/link"
)

// Wanted is a package that the cache is to hold.
type Wanted struct {
	Provider    getproviders.Provider
	Version     getproviders.Version     // zero: the newest that Constraints allow
	Constraints getproviders.Constraints // counts only without a version
	Hashes      []getproviders.Hash      // as a lock file records them; none: the source decides what is genuine
}

// WantedBy lists what lock files select, in the order of addresses and versions.
// A version that several select has the hashes of all of them.
func WantedBy(locked Locked) (wanted []Wanted) {
	for name, hashes := range locked {
		wanted = append(wanted, Wanted{Provider: name.Provider, Version: name.Version, Hashes: hashes})
	}
	slices.SortFunc(wanted, func(a, b Wanted) int {
		if by := a.Provider.Compare(b.Provider); by != 0 {
			return by
		}
		return a.Version.Compare(b.Version)
	})
	return wanted
}

// Filled is what became of one Wanted.
type Filled struct {
	Selection Selection
	Platform  getproviders.Platform
	Present   bool // it was in the cache already
	Err       error

	got genuine
}

// selection and the failures of a Wanted are those of its version.
func (w Wanted) selection() Selection {
	return Selection{Provider: w.Provider, Version: w.Version, Constraints: w.Constraints}
}

// Fill puts packages into the Cache, for any number of working directories to
// come; it needs neither a Target nor a configuration. What is there and would
// be used is left alone. All are attempted; the results are in the order of
// wanted, and the error joins the [*ProviderError] of each that failed.
//
// Where the cache has another package of a version, whose receipt vouches for
// it, that one stays, and the one that is wanted fails.
func (in *Installer) Fill(ctx context.Context, wanted []Wanted) ([]Filled, error) {
	if in.Fetcher.Source == nil || in.Cache == nil {
		return nil, errors.New("to fill a cache, an Installer needs a Source and a Cache")
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	defer in.prepare(in.Cache.Dir)()
	download.SweepPartials(in.partials(), in.Fetcher.now())
	filled, errs := mapTold(ctx, in.Fetcher, in.Fetcher.Limits.withDefaults().Queries, wanted, in.fill)
	for i, err := range errs {
		if err != nil {
			filled[i] = Filled{Selection: wanted[i].selection(), Platform: in.Fetcher.platform(), Err: err}
		}
	}
	return filled, errors.Join(errs...)
}

// fill puts one package into the cache.
func (in *Installer) fill(ctx context.Context, w Wanted) (Filled, error) {
	selected := w.selection()
	if err := cmp.Or(w.Provider.Validate(), w.Version.Validate()); err != nil {
		return Filled{}, selected.failed(StepQuery, err)
	}
	if w.Version == (getproviders.Version{}) {
		var err error
		if selected, err = in.Fetcher.selectNewest(ctx, selected, []getproviders.Requirement{{Constraints: w.Constraints}}); err != nil {
			return Filled{}, err
		}
	}
	t := task{Selection: selected, Partials: in.partials()}
	t.Recorded = slices.DeleteFunc(slices.Clone(w.Hashes), func(h getproviders.Hash) bool { return !h.Supported() })
	if found, ok := in.arrived(ctx, t); ok {
		in.Fetcher.emit(ctx, AlreadyInstalled{Provider: t.Provider, Version: t.Version})
		return Filled{Selection: selected, Platform: in.Fetcher.platform(), Present: true, got: found}, nil
	}
	pkg, err := in.Fetcher.Source.Package(ctx, t.Provider, t.Version, in.Fetcher.platform())
	if err != nil {
		return Filled{}, t.failed(StepMetadata, err)
	}
	t.Package = pkg
	return in.fillFrom(ctx, t)
}

// fillFrom gets a package that the source has told of.
func (in *Installer) fillFrom(ctx context.Context, t task) (Filled, error) {
	unlock, err := in.Cache.lockPackage(ctx, in.packageName(t.Selection))
	if err != nil {
		return Filled{}, t.failed(StepFetch, err)
	}
	defer unlock()
	filled := Filled{Selection: t.Selection, Platform: in.Fetcher.platform()}
	if found, ok := in.arrived(ctx, t); ok {
		filled.Present, filled.got = true, found
		return filled, nil
	}
	stage, err := staging.New(in.Cache.Dir)
	if err != nil {
		return Filled{}, t.failed(StepPublish, err)
	}
	defer stage.Remove()
	in.Fetcher.emit(ctx, t.begun())
	if filled.got, err = in.obtainCopy(ctx, t, stage); err != nil {
		return Filled{}, err
	}
	if err := in.keepInCache(ctx, t.Selection, stage, filled.got); err != nil {
		return Filled{}, t.failed(StepPublish, err)
	}
	in.Fetcher.emit(ctx, t.done(Outcome{Authentication: filled.got.Authentication, placed: published{Dir: in.cachePath(t.Selection)}}))
	return filled, nil
}

// obtainCopy is obtain with the difference that what is unpacked already, in a
// mirror, is copied: the cache may go where the mirror isn't.
func (in *Installer) obtainCopy(ctx context.Context, t task, stage *staging.Stage) (genuine, error) {
	dir, ok := t.Package.Location.(getproviders.LocalDirectory)
	if !ok {
		return in.Fetcher.obtain(ctx, t, stage)
	}
	if _, _, err := link.Tree(ctx, string(dir), stage.PackagePath(), []link.Mode{link.Clone, link.Copy}); err != nil {
		return genuine{}, t.failed(StepFetch, err)
	}
	return in.Fetcher.judgeDirectory(ctx, t, stage.PackagePath())
}

// keepInCache publishes a package in the cache and gives it a receipt.
func (in *Installer) keepInCache(ctx context.Context, s Selection, stage *staging.Stage, got genuine) error {
	at := in.cacheShelf()
	_ = os.Remove(stage.ArchivePath())
	shared, err := in.publishShared(ctx, s, stage, got, at)
	if err == nil {
		at.settle(ctx, shared)
	}
	return err
}
