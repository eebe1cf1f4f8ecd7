package receipt

import (
	"path/filepath"
	"slices"
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
	r.ways = map[string]bool{}
	return r
}

// IsOwn reports whether only this user and root can change the package in
// dir, all of whose entries are given.
func (r *Receipts) IsOwn(entries []StatEntry, dir string) bool {
	return r.areOwn(entries) && (r.ways == nil || r.wayIsOwn(filepath.Dir(dir)))
}

// areOwn reports it of entries, wherever they are.
func (r *Receipts) areOwn(entries []StatEntry) bool {
	return !slices.ContainsFunc(entries, func(e StatEntry) bool { return !e.isOwn(r.User) })
}

// wayIsOwn reports it of a directory and all above it. Each is looked at once.
func (r *Receipts) wayIsOwn(dir string) (own bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	r.file.Locked(func() { own = r.knowWay(dir) })
	return own
}

func (r *Receipts) knowWay(dir string) bool {
	if own, known := r.ways[dir]; known {
		return own
	}
	r.ways[dir] = false // links may lead in a circle
	r.ways[dir] = isOwnWay(dir, r.User, r.knowWay)
	return r.ways[dir]
}
