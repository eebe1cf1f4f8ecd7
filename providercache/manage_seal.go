package providercache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// Finalize makes of a cache that was just filled what an image is to have: readable
// for everybody, with all times set to at (in whole seconds), and nothing in it
// that tells of the run, so that the same packages make the same image. base is
// a directory above the cache, up to which times are set, too.
//
// Receipts are put beside it, in a directory with the name of the cache's and
// ".receipts" behind, for the packages in filled that have no error; all that
// were put there before stay. They count for processes that can't write to the
// cache: those of other users than root, and of root where it is mounted
// read-only. receipts is false if none can count, because somebody else than root
// can write to the cache or to a directory above it. Where they don't count,
// packages are read when they are used first.
func Finalize(ctx context.Context, c *store.Store, filled []Prefetched, base string, at time.Time) (receipts bool, err error) {
	at = at.Truncate(time.Second)
	if err := errors.Join(os.RemoveAll(filepath.Join(c.Dir, store.LocksDir)), makeAlike(c.Dir, at)); err != nil {
		return false, err
	}
	r := receipt.MakeImage(c.Dir)
	for _, f := range filled {
		p := store.Package{Provider: f.Selection.Provider, Version: f.Selection.Version, Platform: f.Platform}
		entries, err := receipt.StatTree(filepath.Join(c.Dir, filepath.FromSlash(p.Name())))
		if f.Err == nil && err == nil {
			r.Put(p.Name(), f.got.Receipt(receipt.StatRecord{Entries: entries}))
		}
	}
	if err := r.Save(ctx); err != nil {
		return false, err
	}
	if receipts = r.Dir() != ""; receipts && len(filled) > 0 {
		err = makeAlike(r.Dir(), at)
	}
	if err != nil {
		return false, err
	}
	return receipts, openWay(c, base, at)
}

// openWay lets everybody reach the cache from base on, which is above it.
func openWay(c *store.Store, base string, at time.Time) error {
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

// makeAlike sets modes and times of a tree, of what is in a directory before
// the directory.
func makeAlike(root string, at time.Time) error {
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

// publicMode lets everybody read, and run what its owner may run.
func publicMode(entry fs.DirEntry, path string) fs.FileMode {
	info, err := os.Lstat(path)
	if entry.IsDir() || err == nil && info.Mode()&0o100 != 0 {
		return 0o755
	}
	return 0o644
}
