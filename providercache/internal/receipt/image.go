package receipt

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/providercache/internal/statefile"
)

// Receipts of a cache that is part of an image are beside it, in a directory
// of their own: a user who runs the image has no state yet. Inodes and ctimes
// change when an image is pushed and pulled, and fractions of seconds get
// lost, so the records leave them out. What makes up for that is that no one
// but root can write to any of it, and this process can't either: a process that could
// forge it could replace this program too.
//
// Owners alone don't show that. Where this process is root, all that it has
// unpacked is root's, a cache that CI has restored included, with the receipts
// that came along.

// imageSuffix makes the name of that directory from the cache's.
const imageSuffix = ".receipts"

var systemsOwn = statefile.Owner{
	Trusted: func(_ string, info fs.FileInfo) bool { return owner.IsRoots(info) },
	DirMode: 0o755, FileMode: 0o644,
}

// OpenImage reads the receipts beside a cache. There are none if the
// cache, one of its parents or the receipts themselves are not root's alone to
// write to, or this process can write to the cache or to them.
func OpenImage(cacheRoot string) *Receipts { return ImageReceipts(cacheRoot, owner.CanWrite) }

// MakeImage is for making an image: call Record and Save when the cache is complete.
// What is written depends only on the packages and their times in whole seconds.
func MakeImage(cacheRoot string) *Receipts {
	return ImageReceipts(cacheRoot, func(string) bool { return false })
}

// ImageReceipts gets what this process can write to.
func ImageReceipts(cacheRoot string, canWrite func(path string) bool) *Receipts {
	root, err := filepath.Abs(cacheRoot)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	dir := root + imageSuffix
	if err != nil || !RootsWithParents(root) || canWrite(root) || canWrite(dir) {
		dir = ""
	}
	r := newReceipts(statefile.Open(dir, "packages", "packages", systemsOwn))
	r.image, r.canWrite = root+string(filepath.Separator), canWrite
	return r
}

// RootsWithParents reports whether a directory and all its parents are root's.
func RootsWithParents(dir string) bool {
	for {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !owner.IsRoots(info) {
			return false
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}

// forImage leaves out of a record what doesn't survive in an image. The times
// are cut, the sizes of directories aren't recorded anyway.
func (r StatRecord) forImage() StatRecord {
	stripped := StatRecord{Entries: make([]StatEntry, len(r.Entries))}
	for i, entry := range r.Entries {
		stripped.Entries[i] = entry.forImage()
	}
	return stripped
}

func (e StatEntry) forImage() StatEntry {
	e.Owner, e.Inode, e.Changed = 0, 0, 0 // the owner is root
	e.Modified -= e.Modified % int64(time.Second)
	return e
}

// imageIsSame reports whether a package in the cache is what its record says,
// and root's, with every directory on the way to it. It may be mounted in
// another way than the cache.
func (r *Receipts) imageIsSame(record StatRecord, name, dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || real != r.image+filepath.FromSlash(name) || !RootsWithParents(real) || r.canWrite(real) {
		return false
	}
	for _, entry := range record.Entries {
		path := filepath.Join(real, filepath.FromSlash(entry.Name))
		info, err := os.Lstat(path)
		if err != nil || !owner.IsRoots(info) {
			return false
		}
		stat, err := Lstat(path)
		stat.Name = entry.Name
		if err != nil || stat.StatEntry.forImage() != entry {
			return false
		}
	}
	return len(record.Entries) > 0
}
