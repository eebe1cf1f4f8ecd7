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
)

// sighting is what this machine has of a selected package.
type sighting struct {
	Version getproviders.Version
	Exists  bool     // in Target
	Genuine bool     // it is what would be installed
	News    *genuine // what the lock file has to learn of it; nil: nothing
	Problem error    // why it couldn't be hashed
	Cached  *genuine // what the cache has, if that may be used; nil: nothing

	Read []published // what was hashed, and is to get a receipt
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
func (in *Installer) look(ctx context.Context, selections []Selection, locks *depsfile.Locks, at where) map[getproviders.Provider]sighting {
	l := looker{in: in, target: in.targetShelf(), shared: in.cacheShelf(), searches: in.Cache != nil && at == inTargetAndCache}
	// The error of what isn't looked at, because ctx ended, comes up again in
	// the next phase.
	seen, _ := par.Map(ctx, runtime.GOMAXPROCS(0), selections, func(ctx context.Context, s Selection) (sighting, error) {
		return l.sight(ctx, task{Selection: s, Recorded: recorded(locks, s)}), nil
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
	target, shared shelf
	searches       bool // in the cache, too
}

func (l looker) sight(ctx context.Context, t task) sighting {
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
func (l looker) sightTarget(ctx context.Context, t task, seen *sighting) {
	dir := l.in.packagePath(t.Provider, t.Version)
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	at := l.target
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if at.own = nil; l.leadsToCache(dir, t) { // for what others keep there are no receipts
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
func (l looker) leadsToCache(dir string, t task) bool {
	target, err := os.Readlink(dir)
	return err == nil && l.in.Cache != nil && target == l.in.cachePath(t.Selection)
}

// accepts reports whether a package that is there is as good as one that
// would be fetched: the lock file has one of its hashes, or if that has none
// at all, the package came from the very source that it would come from now.
func (in *Installer) accepts(ctx context.Context, t task, g genuine) bool {
	if len(t.Recorded) > 0 {
		return g.H1 != "" && slices.Contains(t.Recorded, g.H1) || g.ZH != "" && slices.Contains(t.Recorded, g.ZH)
	}
	return g.Origin != "" && g.Origin == in.origin(ctx, t.Selection)
}

// origin says where a package would come from now; "" if nobody can tell. A
// source that fails here fails again when it is asked for the package.
func (in *Installer) origin(ctx context.Context, s Selection) string {
	origin, err := getproviders.SourceURLOf(ctx, in.Fetcher.Source, s.Provider, s.Version, in.Fetcher.platform())
	if err != nil {
		return ""
	}
	return origin
}

// ofScheme returns the hashes of one scheme.
func ofScheme(hashes []getproviders.Hash, scheme string) []getproviders.Hash {
	return slices.DeleteFunc(slices.Clone(hashes), func(h getproviders.Hash) bool { return h.Scheme() != scheme })
}
