package providercache

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// Prefetched is the result for one PackageSpec.
type Prefetched struct {
	Outcome // its State is event.Present, Fetched or Failed

	provenance receipt.Provenance
}

// Prefetch puts packages into the Cache, for later working directories; it needs
// neither a Target nor a configuration. A package that is there and acceptable is
// left alone. Prefetch tries all packages; the results are in the order of wanted,
// and the error joins the [*getproviders.Fault] of each that failed.
//
// If the cache has a different package for a version, with a valid
// receipt, that one stays, and the wanted one fails.
func (in *Installer) Prefetch(ctx context.Context, wanted []getproviders.PackageSpec) ([]Prefetched, error) {
	if in.Fetcher == nil || in.Cache == nil {
		return nil, errors.New("an Installer needs a Fetcher and a Cache to fill a cache")
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	made, _ := scratch.MakeDirs(in.Cache.Dir) // writing a package reports the error again
	defer func() { scratch.RemoveEmpty(made) }()
	scratch.Sweep(in.Cache.Dir, in.fetcher().Now())
	download.SweepPartials(in.partials(), in.fetcher().Now())
	results, errs := resolve.Map(ctx, in.fetcher().Emit, in.fetcher().Limits.Queries, wanted, in.prefetchOne)
	for i, err := range errs {
		if err != nil {
			results[i] = Prefetched{Outcome: Outcome{Selection: wanted[i].Selected(), Platform: in.fetcher().Platform, State: event.Failed, Err: err}}
		}
	}
	return results, errors.Join(errs...)
}

// prefetchOne puts one package into the cache.
func (in *Installer) prefetchOne(ctx context.Context, w getproviders.PackageSpec) (done Prefetched, err error) {
	selected := w.Selected()
	if err := cmp.Or(w.Provider.Validate(), w.Version.Validate(), in.fetcher().Platform.Validate()); err != nil {
		return done, selected.Failed(during.Query, err)
	}
	if w.Version.IsZero() {
		if selected, err = in.fetcher().Resolver().Newest(ctx, selected, []getproviders.Requirement{{Constraints: w.Constraints}}); err != nil {
			return done, err
		}
	}
	s := &step{todo: caching, into: []*Store{in.Cache}, Request: fetch.Request{
		Selection: selected, Recorded: w.Hashes, Partials: in.partials(),
		Modes: []link.Mode{link.Clone, link.Copy}, // no links: the cache may be moved to a machine without the mirror
	}}
	ended, err := in.takeFromCache(ctx, s)
	if !ended {
		if err = in.describe(ctx, s); err == nil {
			err = in.fetchOne(ctx, s, in.fetcher().Fetch)
		}
	}
	known := s.outcome.receipt.Receipt.Claims()
	return Prefetched{
		Outcome:    Outcome{Selection: s.Selection, Platform: in.fetcher().Platform, State: s.outcome.State, Source: s.outcome.Source, Bytes: known.ArchiveBytes},
		provenance: known,
	}, err
}

// FindCached returns the h1 of the package in the Cache that a spec with a version asks for. ok
// is false if no package there has one of the spec's hashes, so always for a spec without
// hashes. The package is read only if no receipt identifies it. The error is the policy's
// refusal, what is invalid about the spec, or the cause of ctx. FindCached asks no source.
func (in *Installer) FindCached(ctx context.Context, w getproviders.PackageSpec) (h1 getproviders.Hash, ok bool, err error) {
	t := fetch.Request{Selection: w.Selected(), Recorded: w.Hashes}
	if err := cmp.Or(w.Provider.Validate(), w.Version.Validate()); err != nil {
		return "", false, t.Failed(during.Query, err)
	}
	if len(t.Recorded) == 0 {
		return "", false, nil
	}
	found, err := in.findInCache(ctx, t, getproviders.StatePresent)
	if found == nil {
		return "", false, context.Cause(ctx)
	}
	return found.H1, true, err
}

// Finalize prepares a Cache that was just filled for a container image: every user can
// read it, all times are set to at (in whole seconds), and nothing in it depends on the
// run, so that the same packages make the same image. base is a directory above the cache;
// directories from there to the cache get their times and modes set, too.
//
// It writes receipts for the packages in prefetched that have no error. They go to a directory
// beside the cache, with the cache's name and the suffix ".receipts"; receipts that are there
// stay. They count for processes that can't write to the cache: those of users other than root,
// and of root if the cache is mounted read-only. receipts is false if none can count, because a
// user other than root can write to the cache or to a directory above it. Packages without a
// receipt that counts are hashed when they are first used.
func (in *Installer) Finalize(ctx context.Context, prefetched []Prefetched, base string, at time.Time) (receipts bool, err error) {
	at = at.Truncate(time.Second)
	c := in.Cache
	if err := errors.Join(patient.RemoveAll(filepath.Join(c.Dir, store.LocksDir)), normalizeTree(c.Dir, at)); err != nil {
		return false, err
	}
	r := receipt.MakeImage(c.Dir)
	for _, f := range prefetched {
		p := store.Package{Provider: f.Provider, Version: f.Version, Platform: f.Platform}
		entries, err := receipt.StatTree(filepath.Join(c.Dir, filepath.FromSlash(p.Name())))
		if f.Err == nil && err == nil {
			known := f.provenance
			if known.FirstFetched { // by this run, so that each image would be another one
				known.Released = time.Time{}
				known.FirstFetched = false
			}
			r.Put(p.Name(), known.Receipt(receipt.StatRecord{Entries: entries}))
		}
	}
	if err := r.File.Save(ctx); err != nil {
		return false, err
	}
	if receipts = r.File.Dir != ""; receipts && len(prefetched) > 0 {
		err = normalizeTree(r.File.Dir, at)
	}
	if err != nil {
		return false, err
	}
	return receipts, makeReachable(c, base, at)
}

// makeReachable lets every user read and enter the directories from base down
// to the cache.
func makeReachable(c *Store, base string, at time.Time) error {
	base, err := filepath.Abs(base)
	for dir := filepath.Dir(c.Dir); err == nil; dir = filepath.Dir(dir) {
		name, outside := filepath.Rel(base, dir)
		if outside != nil || !filepath.IsLocal(name) {
			return nil
		}
		var info fs.FileInfo
		if info, err = os.Stat(dir); err == nil {
			err = errors.Join(os.Chmod(dir, info.Mode()|0o555), os.Chtimes(dir, at, at))
		}
	}
	return err
}

// normalizeTree sets the modes and times of a tree; a directory's after those
// of its content.
func normalizeTree(root string, at time.Time) error {
	var paths []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		paths = append(paths, path)
		return os.Chmod(path, publicMode(entry, path))
	})
	if err != nil {
		return err
	}
	for _, path := range slices.Backward(paths) {
		if err := os.Chtimes(path, at, at); err != nil {
			return err
		}
	}
	return nil
}

// publicMode lets everybody read a file, and execute it if its owner may.
func publicMode(entry fs.DirEntry, path string) fs.FileMode {
	info, err := os.Lstat(path)
	if entry.IsDir() || err == nil && info.Mode()&0o100 != 0 {
		return 0o755
	}
	return 0o644
}
