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

// A record proves nothing of what others can write to, though a write sets the
// ctime: a process that has mapped a file into memory writes to it, and as long as the
// page isn't written back, or on some file systems ever, no time is set. So a
// receipt counts only if all of the package belongs to this user or to root, and
// no other user can write to it. In a cache the same holds for the directories above it,
// too, where others could put another one in its place at any time. A directory
// of packages that is a part of a working directory is as safe as that is.

// OpenCache is Open for a cache.
func OpenCache(state, root string) *Receipts {
	r := Open(state, root)
	r.ways = owner.Ways{}
	return r
}

// IsOwn reports whether only this user and root can change the package in
// dir, all of whose entries are given.
func (r *Receipts) IsOwn(entries []StatEntry, dir string) bool {
	return r.areOwn(entries) && (r.ways == nil || r.wayIsOwn(filepath.Dir(dir)))
}

// areOwn reports whether only this user and root can change entries, wherever they are.
func (r *Receipts) areOwn(entries []StatEntry) bool {
	return !slices.ContainsFunc(entries, func(e StatEntry) bool { return !e.isOwn(r.User) })
}

// wayIsOwn reports the same of a directory and all directories above it. Each is looked at once.
func (r *Receipts) wayIsOwn(dir string) (own bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	r.File.Locked(func() { own = r.ways.Own(dir, r.User) })
	return own
}

// KeepsTimes reports whether a directory is on a file system on whose times receipts can rely.
func KeepsTimes(dir string) bool {
	system, err := fileSystemOf(dir)
	return err == nil && system.Local
}

// ReceiptRoots lists the directories that there are receipts for, targets and
// caches, and the names of the packages in each. That is who uses a package:
// packages don't know.
func ReceiptRoots(state string) map[string][]string {
	roots := map[string][]string{}
	EachStateFile(state, receiptsDir, func(_, root string, entries map[string][]byte) {
		roots[root] = slices.Sorted(maps.Keys(entries))
	})
	return roots
}

// SweepReceipts removes the receipts for directories that are gone.
func SweepReceipts(state string) {
	EachStateFile(state, receiptsDir, func(path, root string, _ map[string][]byte) {
		if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) {
			_ = patient.Remove(path)
		}
	})
}

// EachStateFile reads the files that are about directories, of one kind.
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
