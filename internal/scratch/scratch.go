// Package scratch makes private directories for files that are renamed into place, next to them,
// when they are complete. It is shared by several packages of this module; it isn't an API for
// others.
//
//	dir, err := scratch.Make(parent)
//	if err != nil {
//		return err
//	}
//	defer dir.Remove()
//	// make files in dir.Path, and rename them into parent
//
// The process that made a directory removes it. If the process was killed, [Sweep] of a later one
// does: it recognizes such a directory by its file lock, which ended with the process, or by its
// age where file locks don't work.
//
// The package never touches files without [Prefix], nor those of a running process: so many
// processes may make and sweep directories at once.
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
	// Prefix is the prefix of the directories' names. The dot keeps them out of the layout of
	// packages.
	Prefix = ".tfdeps-"
	// AbandonedAfter is the age after which a directory without a lock counts as abandoned.
	AbandonedAfter = 24 * time.Hour
	// lockName can't be the name of a module or of any other file made there.
	lockName = ".lock"
	// newSuffix is the suffix of lock files that aren't locked yet.
	newSuffix = ".new"
	// attempts is how often Make retries if another process removes the new directory as abandoned,
	// before it is locked.
	attempts = 100
)

var errSwept = errors.New("other processes remove each new directory")

// Dir is a directory for this process alone.
type Dir struct {
	Path string
	lock io.Closer // tells other processes that this one is running; nil if file locks don't work
}

// Make makes a directory in parent, which must exist. Its mode is 0700.
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

// Abandon releases the lock, as the end of the process would, and reports whether other processes
// can detect it.
func (d *Dir) Abandon() bool {
	return d.lock != nil && d.lock.Close() == nil
}

// Remove removes the directory and its content. What can't be removed now is left to the next
// sweep.
func (d *Dir) Remove() {
	d.Abandon()
	removeAll(d.Path)
}

// RemoveWithin is Remove that doesn't wait longer than a time, for a run that was interrupted. What is left then, a later
// sweep removes.
func (d *Dir) RemoveWithin(patience time.Duration) {
	removed := make(chan struct{})
	go func() {
		d.Remove()
		close(removed)
	}()

	select {
	case <-removed:
	case <-time.After(patience):
	}
}

// removeAll removes a directory, its lock file last: if this process is killed meanwhile, or something can't be
// removed, the next sweep recognizes the directory by it.
func removeAll(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if entry.Name() != lockName && patient.RemoveAll(filepath.Join(dir, entry.Name())) != nil {
			return
		}
	}
	_ = patient.RemoveAll(dir)
}

// Sweep removes the directories that killed processes left in parent, which needn't exist. It
// ignores errors.
func Sweep(parent string, now time.Time) {
	sweep(parent, now, func(fs.FileInfo) bool { return true })
}

// sweep is Sweep for the directories for which concerns returns true.
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
		switch free, known := lockIsFree(filepath.Join(dir, lockName)); {
		case free, !known && isOld(dir, now):
			removeAll(dir)
		case !known:
			removeUnlocked(dir)
		}
	}
}

// isOld reports whether a directory without a lock file counts as abandoned by its age. A
// process may be about to create the lock file.
func isOld(dir string, now time.Time) bool {
	info, err := os.Stat(dir)
	return err == nil && now.Sub(info.ModTime()) > AbandonedAfter
}

// holdLock makes a lock file, and locks it until it is closed or the process ends. The file gets
// its name when it is locked already, so that no process finds it unlocked in between. On Windows it has its name from
// the beginning: no process can rename or remove a file that is open. lock is nil
// if this system has no lock that ends with its process. swept means that another
// process's sweep was faster.
func holdLock(path string) (lock io.Closer, swept bool, err error) {
	if !filelock.Supported {
		return nil, false, nil
	}
	name := path
	if filelock.Removable {
		name += newSuffix
	}
	var file *os.File
	err = patient.Try(func() (err error) { // on Windows access is denied while the directory is being removed
		file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist), nil
	}
	if err := filelock.TryFile(file); err != nil {
		file.Close()
		return nil, errors.Is(err, filelock.ErrHeld) || errors.Is(err, fs.ErrNotExist), nil
	}
	if name == path {
		return file, false, nil
	}
	if err := patient.Rename(name, path); err != nil {
		// A sweep, maybe of this same process, would take the directory for an abandoned one.
		file.Close()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, true, nil
		}
		return nil, false, err
	}
	return file, false, nil
}

// removeUnlocked removes a directory whose process was killed before it named the lock file, or
// after it removed that: the directory has at most the new lock file. removeUnlocked locks that
// first, which fails if the process is running. Without file locks an empty directory may be in
// use, so it stays.
func removeUnlocked(dir string) {
	if !filelock.Supported {
		return
	}
	if filelock.Removable {
		path := filepath.Join(dir, lockName) + newSuffix
		file, err := filelock.TryExisting(path)
		switch {
		case err == nil:
			defer file.Close()
			_ = patient.Remove(path)
		case !errors.Is(err, fs.ErrNotExist):
			return
		}
	}
	_ = patient.Remove(dir) // only if it is empty; a process that is about to make its lock file gets an error
}

// lockIsFree reports whether the process that made a lock file has ended; known is false if that
// can't be determined. On Windows it removes the file then: that fails while a process has it open, which may be about to lock it.
func lockIsFree(path string) (free, known bool) {
	file, err := filelock.TryExisting(path)
	if err == nil {
		file.Close()
		return filelock.Removable || patient.Remove(path) == nil, true
	}
	return false, errors.Is(err, filelock.ErrHeld)
}
