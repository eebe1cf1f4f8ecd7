//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Removable reports whether a file can be renamed and removed while it is locked, so that a lock
// file may be inside the directory that it protects.
const Removable = true

// Supported reports whether this system has locks that end with their process.
const Supported = true

const openPlain = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lock uses flock(2), not fcntl(2): an fcntl lock belongs to the process, and ends when any of its
// descriptors of the file is closed.
func lock(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrHeld
		case err != nil:
			return &os.PathError{Op: "lock", Path: file.Name(), Err: err}
		default:
			return nil
		}
	}
}
