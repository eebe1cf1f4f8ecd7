package providercache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/owner"
)

// shelf is a directory of packages with the receipts that there are for it,
// which were read when it was made. It is for many goroutines.
type shelf struct {
	root   string
	own    *receipts // nil: what is here has none
	system *receipts // of those who made an image with the cache in it; nil: there are none
	now    func() time.Time
}

// targetShelf reads the receipts for Target.
func (in *Installer) targetShelf() shelf {
	return shelf{root: in.Target.Dir, own: openReceipts(in.Fetcher.stateDir(), in.Target.Dir), now: in.Fetcher.now}
}

// cacheShelf reads the receipts for the cache.
func (in *Installer) cacheShelf() shelf {
	if in.Cache == nil {
		return shelf{}
	}
	dir := in.Cache.Dir
	return shelf{dir, openCacheReceipts(in.Fetcher.stateDir(), dir), openSystemReceipts(dir), in.Fetcher.now}
}

// stateDir is where receipts are kept. A directory that is somebody else's, or
// would be made in one, isn't for us: with "sudo" we would leave things there
// that its owner couldn't write to any more.
func (f *Fetcher) stateDir() string { return usableState(f.StateDir) }

func usableState(dir string) string {
	if dir == "" || usable(dir, false) != nil {
		return ""
	}
	return dir
}

// path is where a package is.
func (s shelf) path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// find returns the receipt of a package, which may have changed since.
func (s shelf) find(name string) (found receipt, ok bool) {
	for _, from := range []*receipts{s.own, s.system} {
		if from == nil || ok {
			continue
		}
		found, ok = from.find(name)
	}
	return found, ok
}

// genuine returns the receipt of a package if it still is what it was.
func (s shelf) genuine(name string) (found receipt, ok bool) {
	for _, from := range []*receipts{s.own, s.system} {
		if from == nil || ok {
			continue
		}
		found, ok = from.genuine(name, s.path(name), s.now())
	}
	return found, ok
}

// isOwn reports whether nobody but this user and root can change the package in a
// directory of the shelf, or exchange it.
func (s shelf) isOwn(dir string) bool {
	entries, err := statTree(dir)
	return err == nil && owner.Exclusive(dir) && s.own.isOwn(entries, dir)
}

// settle writes receipts for packages that are in their places. That it can't
// costs the next run some hashing, and is nobody's failure.
func (s shelf) settle(ctx context.Context, packages ...published) {
	if s.own == nil || len(packages) == 0 {
		return
	}
	s.own.settle(ctx, s.now, packages...)
	_ = s.own.save(ctx)
}

// promise writes the receipt of a package that is about to be published where
// there is nothing. It doesn't vouch for anything, as the rename changes what it
// records, but tells what the package is and came from, if this process is
// killed before settle: it is hashed then, and needn't be fetched again.
func (s shelf) promise(ctx context.Context, p published) (promised bool) {
	if _, err := os.Lstat(p.Dir); s.own == nil || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	s.own.put(p.Name, p.Receipt)
	return s.own.save(ctx) == nil
}

// retract takes back what was promised.
func (s shelf) retract(ctx context.Context, name string) {
	s.own.drop(name)
	_ = s.own.save(ctx)
}

// packageName is what receipts and locks know a package by.
func (in *Installer) packageName(s Selection) string {
	return getproviders.UnpackedPath(s.Provider, s.Version, in.Fetcher.platform())
}

func (in *Installer) packageNames(selections []Selection) (names []string) {
	for _, s := range selections {
		names = append(names, in.packageName(s))
	}
	return names
}

// claims is what a receipt says of its package.
func (r receipt) claims() genuine {
	return genuine{
		Authentication: getproviders.AuthenticationResult{TrustLevel: r.TrustLevel, KeyID: r.KeyID, Signed: r.Signed},
		H1:             r.H1, H1Archive: r.H1Archive, ZH: r.ZH, Origin: r.Origin, ArchiveBytes: r.ArchiveBytes, Told: r.Told,
	}
}

// receipt is what says so.
func (g genuine) receipt(record statRecord) receipt {
	return receipt{
		H1: g.H1, ZH: g.ZH, Signed: g.Authentication.Signed, TrustLevel: g.Authentication.TrustLevel, KeyID: g.Authentication.KeyID,
		Origin: g.Origin, ArchiveBytes: g.ArchiveBytes, Record: record, H1Archive: g.H1Archive, Told: g.Told,
	}
}
