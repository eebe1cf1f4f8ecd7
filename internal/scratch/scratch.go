// Package scratch makes private directories in which things are made before a
// rename puts them into their places beside it. It is shared by several packages of
// this module, and is no API for others.
//
//	dir, err := scratch.Make(parent)
//	if err != nil {
//		return err
//	}
//	defer dir.Remove()
//	// make things in dir.Path, and rename them to places below parent
//
// A directory belongs to the process that made it, and is removed by it. Where
// the process was killed, [Sweep] of a later one removes it: a file lock, which ends
// with the process, tells, and where there are no such locks, age does.
//
// The package never touches anything whose name doesn't begin with [Prefix],
// and nothing of a process that lives: so directories may be made and swept by
// many processes at once.
package scratch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/patient"
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
	// newSuffix is for lock files that aren't held yet.
	newSuffix = ".new"
	// attempts is how often a directory is made that another process takes for
	// one that was left behind, before it has its lock.
	attempts = 100
)

var errSwept = errors.New("other processes remove each new directory")

// Dir is a directory that this process has for itself.
type Dir struct {
	Path string
	lock io.Closer // shows to other processes that this one lives; nil where that isn't possible
}

// Make makes a directory in another, which has to exist. Its mode is 0700.
func Make(parent string) (*Dir, error) {
	for range attempts {
		path, err := os.MkdirTemp(parent, Prefix)
		if err != nil {
			return nil, err
		}
		lock, swept, err := holdLock(filepath.Join(path, lockName))
		if err == nil && !swept {
			return &Dir{path, lock}, nil
		}
		_ = patient.RemoveAll(path)
		if err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: %w", parent, errSwept)
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
	removeAll(d.Path)
}

// removeAll removes a directory, and its lock last: if this process is killed
// meanwhile, that tells the next sweep.
func removeAll(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if entry.Name() != lockName {
			_ = patient.RemoveAll(filepath.Join(dir, entry.Name()))
		}
	}
	_ = patient.RemoveAll(dir)
}

// Sweep removes the directories that killed processes left in another, which
// needn't exist. What can't be removed stays.
func Sweep(parent string, now time.Time) {
	sweep(parent, now, func(fs.FileInfo) bool { return true })
}

// sweep is Sweep for the directories that concern the caller.
func sweep(parent string, now time.Time, concerns func(fs.FileInfo) bool) {
	entries, _ := os.ReadDir(parent)
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), Prefix) {
			continue
		}
		if info, err := entry.Info(); err != nil || !info.IsDir() || !concerns(info) {
			continue
		}
		dir := filepath.Join(parent, entry.Name())
		if abandoned(dir, now) {
			removeAll(dir)
		} else {
			removeUnlocked(dir)
		}
	}
}

// abandoned reports whether no process works in a directory any more, as far as its
// lock or its age tell. One without a lock file may be about to get one.
func abandoned(dir string, now time.Time) bool {
	if free, known := lockIsFree(filepath.Join(dir, lockName)); known {
		return free
	}
	info, err := os.Stat(dir)
	return err == nil && now.Sub(info.ModTime()) > AbandonedAfter
}

// holdLock makes a lock file that this process, and no other, holds until it
// is closed or the process ends. The file appears under its name when it is
// held, so that no process finds it free in between. nil: there is no lock
// here that lets the directory be removed. swept: removeUnlocked of another process
// was faster.
func holdLock(path string) (lock io.Closer, swept bool, err error) {
	if !filelock.Removable {
		return nil, false, nil
	}
	file, err := os.OpenFile(path+newSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist), nil
	}
	if err := filelock.TryFile(file); err != nil {
		file.Close()
		return nil, errors.Is(err, filelock.ErrHeld) || errors.Is(err, fs.ErrNotExist), nil
	}
	if err := patient.Rename(path+newSuffix, path); err != nil {
		// A sweep, of this very process perhaps, would take the directory for that of a process that was killed.
		file.Close()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, true, nil
		}
		return nil, false, err
	}
	return file, false, nil
}

// removeUnlocked removes a directory whose process was killed before the lock
// had its name, or after that was removed: there is nothing in it but the lock
// that was being made. It holds that, so that a process that lives is known by it. Where
// there are no locks, an empty directory may be in use.
func removeUnlocked(dir string) {
	if !filelock.Removable {
		return
	}
	path := filepath.Join(dir, lockName) + newSuffix
	file, err := filelock.TryExisting(path)
	switch {
	case err == nil:
		defer file.Close()
		_ = patient.Remove(path)
	case !errors.Is(err, fs.ErrNotExist):
		return
	}
	_ = patient.Remove(dir) // if it is empty; a process that is about to make a lock in it gets an error
}

// lockIsFree reports whether the process that made a lock file has ended;
// known is false if there is no telling.
func lockIsFree(path string) (free, known bool) {
	if !filelock.Removable {
		return false, false
	}
	file, err := filelock.TryExisting(path)
	if err == nil {
		file.Close()
		return true, true
	}
	return false, errors.Is(err, filelock.ErrHeld)
}
