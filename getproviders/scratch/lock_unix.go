//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package scratch

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// newSuffix is for lock files that aren't held yet.
const newSuffix = ".new"

// holdLock makes a lock file that this process, and no other, holds until it
// is closed or the process ends. The file appears under its name when it is
// held, so that nobody finds it free who looks in between. nil: the file
// system has no such locks. swept: removeUnlocked of another process was faster.
func holdLock(path string) (lock io.Closer, swept bool) {
	file, err := os.OpenFile(path+newSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		err = os.Rename(path+newSuffix, path)
	}
	if err != nil {
		file.Close()
		return nil, errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist)
	}
	return file, false
}

// removeUnlocked removes a directory whose process was killed before the lock
// had its name, or after that was removed: there is nothing in it but the lock
// that was being made. It holds that, so that a process that lives is told.
func removeUnlocked(dir string) {
	path := filepath.Join(dir, lockName) + newSuffix
	if file, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
		defer file.Close()
		if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
			return
		}
		_ = os.Remove(path)
	}
	_ = os.Remove(dir) // if it is empty; who is about to make a lock in it is told
}

// lockIsFree reports whether the process that made a lock file has ended;
// known is false if there is no telling.
func lockIsFree(path string) (free, known bool) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, false
	}
	defer file.Close()
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	return err == nil, err == nil || errors.Is(err, unix.EWOULDBLOCK)
}
