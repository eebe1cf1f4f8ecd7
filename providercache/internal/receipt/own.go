package receipt

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/providercache/internal/statefile"
)

// A record proves nothing if other users can write to the files, although a write sets the
// ctime: a process that has mapped a file into memory can change it, and no time is set until
// the page is written back, or, on some file systems, ever. So a receipt counts only if this
// user or root owns all of the package, and no other user can write to it. In a cache the same
// holds for the directories above it, because other users could exchange it there at any time.
// A directory of packages in a working directory is as safe as that is.

// OpenCache is Open for a cache.
func OpenCache(state, root string) *Receipts {
	r := Open(state, root)
	r.ways = owner.Ways{}
	return r
}

// IsOwn reports whether only this user and root can change the
// package in dir; entries are all of its entries.
func (r *Receipts) IsOwn(entries []StatEntry, dir string) bool {
	return r.areOwn(entries) && (r.ways == nil || r.wayIsOwn(filepath.Dir(dir)))
}

// areOwn reports whether only this user and root can change the entries, wherever these are.
func (r *Receipts) areOwn(entries []StatEntry) bool {
	return !slices.ContainsFunc(entries, func(e StatEntry) bool { return !e.isOwn(r.User) })
}

// wayIsOwn reports the same of a directory and all directories
// above it. It checks each directory once.
func (r *Receipts) wayIsOwn(dir string) (own bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	r.File.Locked(func() { own = r.ways.Own(dir, r.User) })
	return own
}

// KeepsTimes reports whether a directory's file system sets times that receipts can rely on.
func KeepsTimes(dir string) bool {
	system, err := fileSystemOf(dir)
	return err == nil && system.Local
}

// ReceiptRoots returns the directories that have receipts, targets and caches, and the names of the
// packages in each. These are the users of a package, which the package itself doesn't record.
func ReceiptRoots(state string) map[string][]string {
	roots := map[string][]string{}
	EachStateFile(state, receiptsDir, func(_, root string, entries map[string][]byte) {
		roots[root] = slices.Sorted(maps.Keys(entries))
	})
	return roots
}

// SweepReceipts removes the receipts of directories that no longer exist.
func SweepReceipts(state string) {
	EachStateFile(state, receiptsDir, func(path, root string, _ map[string][]byte) {
		if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) {
			_ = patient.Remove(path)
		}
	})
}

// EachStateFile reads the files of one kind, each of which is about a directory.
func EachStateFile(state, kind string, do func(path, root string, entries map[string][]byte)) {
	dir := Below(state, kind)
	if dir == "" {
		return
	}
	list, err := os.ReadDir(dir)
	if info, statErr := os.Stat(dir); err != nil || statErr != nil || !owner.IsPrivate(dir, info) {
		return
	}
	for _, item := range list {
		path := filepath.Join(dir, item.Name())
		content, err := statefile.ReadOwn(path, owner.IsPrivate)
		if err != nil {
			continue
		}
		root, entries, err := statefile.DecodeState(content)
		if err != nil || item.Name() != ReceiptsName(root) {
			continue
		}
		do(path, root, entries)
	}
}
