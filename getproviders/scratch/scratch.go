// Package scratch has directories in which things are made before a rename puts
// them into their places beside it.
//
// A directory belongs to the process that made it, and is removed by it. Where
// the process was killed, [Sweep] of a later one removes it: a lock that ends
// with the process tells, and where there are no such locks, age does.
//
// The package never touches anything whose name doesn't begin with [Prefix],
// and nothing of a process that lives: so directories may be made and swept by
// many processes at once.
package scratch

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// Prefix begins the names of the directories. The dot keeps them out of the
	// layout of packages.
	Prefix = ".tfdeps-"
	// AbandonedAfter is how old a directory has to be to count as left behind
	// where no lock can tell.
	AbandonedAfter = 24 * time.Hour
	// lockName is no name of a module, nor of anything else that is made there.
	lockName = ".lock"
)

// Dir is a directory that this process has for itself.
type Dir struct {
	Path string
	lock io.Closer // shows to other processes that this one lives; nil where that isn't possible
}

// Make makes a directory in another, which has to exist. Its mode is 0700.
func Make(parent string) (*Dir, error) {
	path, err := os.MkdirTemp(parent, Prefix)
	if err != nil {
		return nil, err
	}
	return &Dir{path, holdLock(filepath.Join(path, lockName))}, nil
}

// Abandon does what the end of the process would do, and reports whether others
// can tell.
func (d *Dir) Abandon() bool {
	return d.lock != nil && d.lock.Close() == nil
}

// Remove removes the directory with all that is still in it. What can't be
// removed now is left to the next sweep.
func (d *Dir) Remove() {
	d.Abandon()
	_ = os.RemoveAll(d.Path)
}

// Sweep removes the directories that killed processes left in another, which
// needn't exist. What can't be removed stays.
func Sweep(parent string, now time.Time) {
	entries, _ := os.ReadDir(parent)
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), Prefix) {
			continue
		}
		dir := filepath.Join(parent, entry.Name())
		if abandoned(dir, now) {
			_ = os.RemoveAll(dir)
		}
	}
}

// abandoned reports whether nobody works in a directory any more. One without
// a lock file may be about to get one.
func abandoned(dir string, now time.Time) bool {
	if free, known := lockIsFree(filepath.Join(dir, lockName)); known {
		return free
	}
	info, err := os.Stat(dir)
	return err == nil && now.Sub(info.ModTime()) > AbandonedAfter
}
