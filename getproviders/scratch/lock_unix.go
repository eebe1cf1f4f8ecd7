//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package scratch

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// holdLock makes a lock file that this process, and no other, holds until it
// is closed or the process ends. The file appears under its name when it is
// held, so that nobody finds it free who looks in between. nil: the file
// system has no such locks.
func holdLock(path string) io.Closer {
	file, err := os.OpenFile(path+".new", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		file.Close()
		return nil
	}
	return file
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
