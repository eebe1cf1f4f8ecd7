package receipt

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/internal/owner"
)

// Deleting a hard link changes the ctime of the file, so "rm -rf .terraform" does that to
// files of the cache. A changed ctime says that something was done to a file, and the rest
// of the record says what: a write or a truncation sets the mtime, a replaced file has
// another inode, a chmod shows in the mode. Only a process that writes and then sets the
// mtime back hides that, and it needs write access to the file.
//
// So in a cache whose files and directories, and all directories above them, only this user and
// root can write to (own.go), a record counts although ctimes of files have changed. A program that
// forges it there runs as this user, or as root. Where other users can write, no record counts at
// all. The ctimes of directories have to be the same: no program makes hard links to a directory.
//
// StrictTimes compares all ctimes. Receipts of targets and of archives always
// do: their files have only one name, unless they are the cache's.

// isMoved reports whether a file differs from its entry only in the ctime.
func (e StatEntry) isMoved(recorded StatEntry) bool {
	recorded.Changed = e.Changed
	return e == recorded && e.Mode.IsRegular()
}

// Moved reports whether ctimes of files have changed since the receipt,
// which Known returned, was made, so that it should be renewed.
func (r Receipt) Moved() bool {
	return !slices.EqualFunc(r.Record.Entries, r.seen, func(e StatEntry, stat PathStat) bool { return e == stat.StatEntry }) && len(r.seen) > 0
}

// ctimesCount reports whether ctimes have to be compared. They have to if
// other users can write to an entry, because these may set an mtime back.
func (r *Receipts) ctimesCount(entries []StatEntry) bool {
	return r.StrictTimes || !r.areOwn(entries)
}

// A package in a target may consist of hard links to a cache's files. A file is
// the same under all its names, so what the cache's receipt proves of it holds in
// the target, too, and only in the cache it matters who can write to it. What
// remains is to find out which files the target's directories hold.

// HeldBy reports whether the package in dir, which has a receipt of its own in r, consists of the
// files of a cache's package. shared is the receipt that Known returned for the cache's package.
// The own receipt proves what the directories hold, so they needn't be listed.
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

// MakeExecutable gives files of the package in dir the permissions to execute them that the receipt has. A chmod in one working directory
// takes these from all hard links, and no hash shows it. Errors are ignored: without permissions the program says so when it starts.
func (r Receipt) MakeExecutable(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	for _, e := range r.Record.Entries {
		name := filepath.FromSlash(e.Name)
		if now, err := root.Lstat(name); err == nil && now.Mode().IsRegular() && e.Mode&^now.Mode()&0o111 != 0 {
			_ = root.Chmod(name, now.Mode().Perm()|e.Mode&0o111)
		}
	}
}

// IsLinkedIn reports whether the package in dir consists of the files of a cache's
// package, whose receipt r was returned by Known. It lists dir's directories.
func (r Receipt) IsLinkedIn(dir string) bool {
	stats, err := statTree(dir)
	return err == nil && len(stats) > 0 && slices.EqualFunc(stats, r.seen, PathStat.standsFor)
}

// standsFor reports whether a path of a target is the same file as a path of the cache, or a
// directory like it. The ctime isn't compared, because a concurrent link changes it.
func (s PathStat) standsFor(cached PathStat) bool {
	if s.Mode.IsDir() && cached.Mode.IsDir() {
		return s.Name == cached.Name
	}
	return s.Device == cached.Device && s.Inode != 0 && s.isMoved(cached.StatEntry)
}
