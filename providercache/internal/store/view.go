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
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// View is a directory of packages with its receipts, which were read when the View was
// made. It is safe for concurrent use. It is for packages of this module, because
// receipts have internal types. Programs use Store and Maintenance.
type View struct {
	root   string
	Own    *receipt.Receipts // nil: receipts of this directory are neither read nor written
	System *receipt.Receipts // of an image that contains the cache; nil: none
	now    func() time.Time
}

// ViewTarget reads the receipts for a target; c may be nil. state is the directory of
// receipts, as UsableState returns it. With strict, a receipt counts only if the ctime
// of each file is the recorded one, see providercache.Fetcher.StrictTimes.
func ViewTarget(c *Store, state string, now func() time.Time, strict bool) View {
	if c == nil {
		return View{}
	}
	own := receipt.Open(state, c.Dir)
	own.StrictTimes = strict
	return View{root: c.Dir, Own: own, now: now}
}

// ViewCache reads the receipts for a cache; the rest is as for ViewTarget.
func ViewCache(c *Store, state string, now func() time.Time, strict bool) View {
	if c == nil {
		return View{}
	}
	own := receipt.OpenCache(state, c.Dir)
	own.StrictTimes = strict
	return View{c.Dir, own, receipt.OpenImage(c.Dir), now}
}

// IsSame reports whether two views are of one directory.
func (s View) IsSame(other View) bool { return s.root == other.root }

// UsableState returns dir if receipts may be kept in it, else "". A directory that belongs to another user,
// or whose parent does, isn't used: under sudo, its owner couldn't write to the files afterwards.
func UsableState(dir string) string {
	if _, err := usable(dir, false); dir == "" || err != nil {
		return ""
	}
	return dir
}

// Path returns the path of a package.
func (s View) Path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// Find returns the receipt of a package, which may have changed since.
func (s View) Find(name string) (found receipt.Receipt, ok bool) {
	if found, ok = s.Own.Find(name); !ok {
		found, ok = s.System.Find(name)
	}
	return found, ok
}

// Known returns the receipt of a package if its files still match the receipt.
func (s View) Known(name string) (found receipt.Receipt, ok bool) {
	if found, ok = s.KnownOwn(name); !ok && s.System != nil {
		found, ok = s.System.Known(name, s.Path(name), s.now())
	}
	return found, ok
}

// KnownOwn is Known for a package of a cache that is IsOwn, by a receipt of this user.
func (s View) KnownOwn(name string) (found receipt.Receipt, ok bool) {
	if s.Own == nil {
		return found, false
	}
	return s.Own.Known(name, s.Path(name), s.now())
}

// IsOwn reports whether only this user and root can change or exchange the package in a directory of the store.
func (s View) IsOwn(dir string) bool {
	entries, err := receipt.StatTree(dir)
	return err == nil && owner.Exclusive(dir) && s.Own.IsOwn(entries, dir)
}

// LinkedFrom returns the receipt of a cache's package if the package
// matches it, and the package here consists of hard links to its files.
func (s View) LinkedFrom(cache View, name string) (found receipt.Receipt, ok bool) {
	if s.Own == nil || cache.Own == nil {
		return found, false
	}
	shared, ok := cache.Own.Known(name, cache.Path(name), s.now())
	if !ok {
		return found, false
	}
	return shared, s.Own.HeldBy(shared, name, s.Path(name), s.now()) || shared.IsLinkedIn(s.Path(name))
}

// Record writes receipts for published packages. Errors are ignored: the next run then hashes the packages.
func (s View) Record(ctx context.Context, packages ...receipt.Pending) {
	if s.Own == nil || len(packages) == 0 {
		return
	}
	s.Own.Record(ctx, s.now, packages...)
	_ = s.Own.File.Save(ctx)
}

// Announce writes the receipt of a package before it is published, if its path is free. The
// receipt doesn't hold until Record renews it, because the rename changes the ctime; but if
// this process is killed before that, the package only has to be hashed again, not fetched.
func (s View) Announce(ctx context.Context, p receipt.Pending) (announced bool) {
	if _, err := os.Lstat(p.Dir); s.Own == nil || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	s.Own.Put(p.Name, p.Receipt)
	return s.Own.File.Save(ctx) == nil
}

// Retract removes a receipt that Announce wrote.
func (s View) Retract(ctx context.Context, name string) {
	s.Own.File.Remove(name)
	_ = s.Own.File.Save(ctx)
}

// KnownPackages returns what receipts record about packages of a
// provider for a platform, including packages that are gone.
func (s View) KnownPackages(p getproviders.Provider, plat getproviders.Platform) (all []getproviders.CachedPackage) {
	return append(listed(s.Own, s, p, plat), listed(s.System, s, p, plat)...)
}

// listed lists the packages of a provider for which r has receipts.
func listed(r *receipt.Receipts, at View, p getproviders.Provider, plat getproviders.Platform) (all []getproviders.CachedPackage) {
	for _, name := range r.Names() {
		text := strings.TrimSuffix(strings.TrimPrefix(name, p.String()+"/"), "/"+plat.String())
		version, err := getproviders.ParseVersion(text)
		rc, known := r.Find(name)
		if err != nil || !known || name != layout.UnpackedPath(p, version, plat) {
			continue
		}
		_, err = os.Stat(at.Path(name))
		all = append(all, getproviders.CachedPackage{Version: version, SourceURL: rc.Origin, ArchiveBytes: rc.ArchiveBytes, Present: err == nil})
	}
	return all
}

// LastSize returns the size in bytes of the archive of a provider's last recorded package for the platform,
// or 0 if no receipt has a size. name is the name of a package of that provider and platform.
func (s View) LastSize(name string) (size int64) {
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
