package receipt

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/providercache/internal/statefile"
)

// The receipts of a cache that is part of a container image are beside the cache, in a directory
// of their own, because a user who runs the image has no state yet. Inodes and ctimes change when
// an image is pushed and pulled, and fractions of seconds get lost, so the records leave them
// out. Instead, only root may be able to write to any of it, and this process may not:
// a process that could forge it could replace this program, too.
// File owners alone don't show that. If this process runs as root, it owns everything that it
// has unpacked, for example a cache that CI has restored together with its receipts.

// imageSuffix is appended to the cache's name for that directory.
const imageSuffix = ".receipts"

var systemsOwn = statefile.Owner{
	Trusted: func(_ string, info fs.FileInfo) bool { return owner.IsRoots(info) },
	DirMode: 0o755, FileMode: 0o644,
}

// OpenImage reads the receipts beside a cache. It returns no receipts if
// users other than root can write to the cache, its parents or the
// receipts, or if this process can write to the cache or the receipts.
func OpenImage(cacheRoot string) *Receipts { return ImageReceipts(cacheRoot, owner.CanWrite) }

// MakeImage returns the receipts for an image that is being made: call Record and Save when the
// cache is complete. The content depends only on the packages and their times in whole seconds.
func MakeImage(cacheRoot string) *Receipts {
	return ImageReceipts(cacheRoot, func(string) bool { return false })
}

// ImageReceipts is OpenImage with a function that reports what this process can write to.
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

// RootsWithParents reports whether only root can write to a directory and all its parents.
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

// forImage removes from a record what an image doesn't preserve. Times are
// cut to seconds; sizes of directories aren't recorded anyway.
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

// imageIsSame reports whether a package in the cache matches its record and, with all directories
// above it, only root can write to it. The package may be on another mount than the cache.
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
