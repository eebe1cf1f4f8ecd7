package receipt

import (
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/providercache/internal/owner"
)

// A package in a target may consist of the very files of a cache's package, by hard
// links. A file is the same under all its names, so what the cache's receipt proves
// of it holds in the target, and whether other users could write to it is asked of
// the cache alone. What is left to find out is which files the target's directories
// hold.

// HeldBy reports whether the package in dir, which has a receipt of its own among
// these, consists of the files of a cache's package. shared is the receipt that Known
// returned for that one. The package's own receipt proves what its directories hold,
// so they needn't be listed.
func (r *Receipts) HeldBy(shared Receipt, name, dir string, now time.Time) bool {
	own, ok := r.Find(name)
	if !ok || len(own.Record.Entries) != len(shared.seen) {
		return false
	}
	var device uint64
	for i, entry := range own.Record.Entries {
		stat, err := statIn(dir, entry.Name)
		if err != nil || !entry.Mode.IsRegular() && stat.StatEntry != entry || !stat.standsFor(shared.seen[i]) {
			return false
		}
		if i == 0 {
			device = stat.Device
		}
	}
	return owner.Exclusive(dir) && r.areOwn(own.Record.Entries) && r.proves(own, device, dir, now)
}

// IsLinkedIn reports whether the package in dir consists of the files of a cache's
// package, for which Known returned the receipt. It lists dir's directories.
func (r Receipt) IsLinkedIn(dir string) bool {
	stats, err := statTree(dir)
	return err == nil && len(stats) > 0 && slices.EqualFunc(stats, r.seen, PathStat.standsFor)
}

// standsFor reports whether a path of a target is the same file as one of the
// cache, or a directory as that one is. The ctime isn't compared: a link that is made
// at this moment moves it.
func (s PathStat) standsFor(cached PathStat) bool {
	if s.Mode.IsDir() && cached.Mode.IsDir() {
		return s.Name == cached.Name
	}
	return s.Device == cached.Device && s.Inode != 0 && s.isMoved(cached.StatEntry)
}
