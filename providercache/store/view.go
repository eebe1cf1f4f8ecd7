package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/owner"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// shelf is a directory of packages with the receipts that there are for it,
// which were read when it was made. It is for many goroutines.
type View struct {
	root   string
	Own    *receipt.Receipts // nil: what is here has none
	System *receipt.Receipts // of those who made an image with the cache in it; nil: there are none
	now    func() time.Time
}

// openTarget reads the receipts for a target; d may be nil. state is where receipts
// are kept, as usableState has it.
func (d *Store) OpenTarget(state string, now func() time.Time) View {
	if d == nil {
		return View{}
	}
	return View{root: d.Dir, Own: receipt.Open(state, d.Dir), now: now}
}

// openCache reads the receipts for a cache; d may be nil.
func (d *Store) OpenCache(state string, now func() time.Time) View {
	if d == nil {
		return View{}
	}
	return View{d.Dir, receipt.OpenCache(state, d.Dir), receipt.OpenImage(d.Dir), now}
}

// hasReceipts reports whether receipts are kept for what is here.
func (s View) HasReceipts() bool { return s.Own != nil }

// withoutReceipts is the same directory, of which nothing is known or kept.
func (s View) WithoutReceipts() View {
	s.Own = nil
	return s
}

// isSame reports whether two views are of one directory.
func (s View) IsSame(other View) bool { return s.root == other.root }

// usableState is where receipts are kept. A directory that belongs to another user,
// or would be made in one, isn't used: with "sudo" files would be left there that its
// owner couldn't write to any more.
func UsableState(dir string) string {
	if dir == "" || usable(dir, false) != nil {
		return ""
	}
	return dir
}

// path is where a package is.
func (s View) Path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// find returns the receipt of a package, which may have changed since.
func (s View) Find(name string) (found receipt.Receipt, ok bool) {
	for _, from := range []*receipt.Receipts{s.Own, s.System} {
		if from == nil || ok {
			continue
		}
		found, ok = from.Find(name)
	}
	return found, ok
}

// genuine returns the receipt of a package if it still is what it was.
func (s View) Known(name string) (found receipt.Receipt, ok bool) {
	for _, from := range []*receipt.Receipts{s.Own, s.System} {
		if from == nil || ok {
			continue
		}
		found, ok = from.Known(name, s.Path(name), s.now())
	}
	return found, ok
}

// isOwn reports whether nobody but this user and root can change the package in a
// directory of the shelf, or exchange it.
func (s View) IsOwn(dir string) bool {
	entries, err := receipt.StatTree(dir)
	return err == nil && owner.Exclusive(dir) && s.Own.IsOwn(entries, dir)
}

// linkedFrom returns the receipt of a package that consists of hard links to the
// files of a cache's package, if those are what the cache's receipt says.
func (s View) LinkedFrom(cache View, name string) (found receipt.Receipt, ok bool) {
	if s.Own == nil || cache.Own == nil {
		return receipt.Receipt{}, false
	}
	if shared, ok := cache.Own.Find(name); ok {
		if found, ok := s.Own.HeldBy(shared, name, s.Path(name), s.now()); ok {
			return found, true
		}
	}
	return cache.Own.Linked(name, s.Path(name), s.now())
}

// settle writes receipts for packages that are in their places. That it can't
// costs the next run some hashing, and is nobody's failure.
func (s View) Record(ctx context.Context, packages ...receipt.Pending) {
	if s.Own == nil || len(packages) == 0 {
		return
	}
	s.Own.Record(ctx, s.now, packages...)
	_ = s.Own.Save(ctx)
}

// promise writes the receipt of a package that is about to be published where
// there is nothing. It doesn't vouch for anything, as the rename changes what it
// records, but tells what the package is and came from, if this process is
// killed before settle: it is hashed then, and needn't be fetched again.
func (s View) Announce(ctx context.Context, p receipt.Pending) (promised bool) {
	if _, err := os.Lstat(p.Dir); s.Own == nil || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	s.Own.Put(p.Name, p.Receipt)
	return s.Own.Save(ctx) == nil
}

// retract takes back what was promised.
func (s View) Retract(ctx context.Context, name string) {
	s.Own.Drop(name)
	_ = s.Own.Save(ctx)
}

// known returns what receipts tell of packages of a provider for a platform,
// whether they are still there or not.
func (s View) KnownPackages(p getproviders.Provider, plat getproviders.Platform) (all []getproviders.CachedPackage) {
	for _, from := range []*receipt.Receipts{s.Own, s.System} {
		if from != nil {
			all = append(all, listed(from, s, p, plat)...)
		}
	}
	return all
}

// listed lists the packages of a provider that there are receipts for.
func listed(r *receipt.Receipts, at View, p getproviders.Provider, plat getproviders.Platform) (all []getproviders.CachedPackage) {
	for _, name := range r.Names() {
		text := strings.TrimSuffix(strings.TrimPrefix(name, p.String()+"/"), "/"+plat.String())
		version, err := getproviders.ParseVersion(text)
		rc, known := r.Find(name)
		if err != nil || !known || name != getproviders.UnpackedPath(p, version, plat) {
			continue
		}
		_, err = os.Stat(at.Path(name))
		all = append(all, getproviders.CachedPackage{Version: version, SourceURL: rc.Origin, ArchiveBytes: rc.ArchiveBytes, Present: err == nil})
	}
	return all
}

// lastSize returns the size of the archive that the last of a provider's
// packages for a platform came from.
func (s View) LastSize(name string) (size int64) {
	if s.Own == nil {
		return 0
	}
	version, platform := path.Split(name)
	provider, _ := path.Split(path.Clean(version))
	for _, other := range s.Own.Names() {
		if !strings.HasPrefix(other, provider) || path.Base(other) != platform {
			continue
		}
		if found, ok := s.Own.Find(other); ok && found.ArchiveBytes > 0 {
			size = found.ArchiveBytes
		}
	}
	return size
}
