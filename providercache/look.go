package providercache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// sighting is what this machine has of a selected package.
type sighting struct {
	Version getproviders.Version
	Exists  bool                // in Target
	Genuine bool                // it is what would be installed
	News    *receipt.Provenance // what the lock file has to learn of it; nil: nothing
	Problem error               // why it couldn't be hashed
	Cached  *receipt.Provenance // what the cache has, if that may be used; nil: nothing

	Read []receipt.Pending // what was hashed, and is to get a receipt
}

// where says how far look goes.
type where int

const (
	inTarget where = iota
	inTargetAndCache
)

// look finds out what there is of the selected packages: in Target, and where
// that isn't what is wanted maybe in the cache. As many are looked at at once
// as there are cores. What a receipt knows isn't read. A package that can't be
// read is taken for damaged.
func (in *Installer) look(ctx context.Context, selections []resolve.Selection, locks *depsfile.Locks, at where) map[getproviders.Provider]sighting {
	l := looker{in: in, target: in.targetShelf(), shared: in.cacheShelf(), searches: in.Cache != nil && at == inTargetAndCache}
	// The error of what isn't looked at, because ctx ended, comes up again in
	// the next phase.
	seen, _ := par.Map(ctx, runtime.GOMAXPROCS(0), selections, func(ctx context.Context, s resolve.Selection) (sighting, error) {
		return l.sight(ctx, fetcher.Request{Selection: s, Recorded: resolve.Recorded(locks, s)}), nil
	})
	local := make(map[getproviders.Provider]sighting, len(selections))
	for i, s := range selections {
		local[s.Provider] = seen[i]
	}
	return local
}

// looker looks at packages in the light of receipts that were read once.
type looker struct {
	in             *Installer
	target, shared store.View
	searches       bool // in the cache, too
}

func (l looker) sight(ctx context.Context, t fetcher.Request) sighting {
	seen := sighting{Version: t.Version}
	l.sightTarget(ctx, t, &seen)
	if seen.Genuine || !l.searches {
		return seen
	}
	found, read, err := l.prove(ctx, t, l.shared)
	seen.Read = append(seen.Read, read...)
	if err == nil && l.in.accepts(ctx, t, found) {
		seen.Cached = &found
	}
	return seen
}

// sightTarget looks at the package in Target.
func (l looker) sightTarget(ctx context.Context, t fetcher.Request, seen *sighting) {
	dir := l.in.packagePath(t.Provider, t.Version)
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	at := l.target
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if at = at.WithoutReceipts(); l.leadsToCache(dir, t) { // for what others keep there are no receipts
			at = l.shared
		}
	}
	found, read, err := l.prove(ctx, t, at)
	if errors.Is(err, fs.ErrNotExist) { // the link dangles
		return
	}
	seen.Read = append(seen.Read, read...)
	seen.Exists, seen.Problem = true, err
	seen.Genuine = err == nil && l.in.accepts(ctx, t, found)
	if seen.Genuine && !slices.Contains(t.Recorded, found.H1) {
		seen.News = &found
	}
}

// leadsToCache reports whether a link in Target leads to the very place that
// the package has in the cache.
func (l looker) leadsToCache(dir string, t fetcher.Request) bool {
	target, err := os.Readlink(dir)
	return err == nil && l.in.Cache != nil && target == l.in.cachePath(t.Selection)
}

// accepts reports whether a package that is there is as good as one that
// would be fetched: the lock file has one of its hashes, or if that has none
// at all, the package came from the very source that it would come from now.
func (in *Installer) accepts(ctx context.Context, t fetcher.Request, g receipt.Provenance) bool {
	if len(t.Recorded) > 0 {
		return g.H1 != "" && slices.Contains(t.Recorded, g.H1) || g.ZH != "" && slices.Contains(t.Recorded, g.ZH)
	}
	return g.Origin != "" && g.Origin == in.origin(ctx, t.Selection)
}

// origin says where a package would come from now; "" if nobody can tell. A
// source that fails here fails again when it is asked for the package.
func (in *Installer) origin(ctx context.Context, s resolve.Selection) string {
	origin, err := getproviders.SourceURLOf(ctx, in.Fetcher.Source, s.Provider, s.Version, in.Fetcher.EffectivePlatform())
	if err != nil {
		return ""
	}
	return origin
}

// targetShelf and cacheShelf read the receipts for Target and for the cache.
func (in *Installer) targetShelf() store.View {
	return in.Target.OpenTarget(in.Fetcher.EffectiveStateDir(), in.Fetcher.Time)
}

func (in *Installer) cacheShelf() store.View {
	return in.Cache.OpenCache(in.Fetcher.EffectiveStateDir(), in.Fetcher.Time)
}

// packageName is what receipts and locks know a package by.
func (in *Installer) packageName(s resolve.Selection) string {
	return getproviders.UnpackedPath(s.Provider, s.Version, in.Fetcher.EffectivePlatform())
}

func (in *Installer) packageNames(selections []resolve.Selection) (names []string) {
	for _, s := range selections {
		names = append(names, in.packageName(s))
	}
	return names
}
