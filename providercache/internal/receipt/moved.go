package receipt

import "slices"

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

// ctimesCount reports whether a change can be told from none by the ctimes alone.
// Where other users can write to one of the entries, they may set an mtime back.
func (r *Receipts) ctimesCount(entries []StatEntry) bool {
	return r.StrictTimes || !r.areOwn(entries)
}
