package receipt

import (
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/internal/owner"
)

// To delete a hard link moves the ctime of the file that it was a name of, and so
// does "rm -rf .terraform" for the files of the cache. A ctime that moved says that
// something was done to a file, and the rest of the record says what: a write or a
// truncation sets the mtime, another file in its place has another inode, a chmod
// shows in the mode. Only who writes and then sets the mtime back hides that, and
// this takes the right to write to the file.
//
// So in a cache whose files and directories, and all directories above them, only
// this user and root can write to (own.go), a record counts although the ctimes of
// files moved. A program that forges it there runs as this user, or as root.
// Where other users can write, nothing counts at all. The ctimes of directories have
// to be the same: no link is made to a directory.
//
// StrictTimes compares all ctimes. Receipts of targets and of archives always do:
// their files have no further names, unless they are the cache's.

// isMoved reports whether a file differs from its entry by the ctime alone.
func (e StatEntry) isMoved(recorded StatEntry) bool {
	recorded.Changed = e.Changed
	return e == recorded && e.Mode.IsRegular()
}

// Moved reports of a receipt that Known returned whether ctimes of its files have
// moved since it was made, so that it should be made again.
func (r Receipt) Moved() bool {
	return !slices.EqualFunc(r.Record.Entries, r.seen, func(e StatEntry, stat PathStat) bool { return e == stat.StatEntry }) && len(r.seen) > 0
}

// ctimesCount reports whether only the ctimes may show a change.
// Where other users can write to one of the entries, they may set an mtime back.
func (r *Receipts) ctimesCount(entries []StatEntry) bool {
	return r.StrictTimes || !r.areOwn(entries)
}

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
