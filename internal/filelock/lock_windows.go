package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Removable reports whether a file can be renamed and removed while it is locked.
const Removable = false

// Supported reports whether this system has locks that end with their process.
const Supported = true

const openPlain = 0

// lock locks one byte far behind the end: other handles can't read a locked range, and the file may
// have content.
func lock(file *os.File) error {
	beyond := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &beyond)
	switch {
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return ErrHeld
	case err != nil:
		return &os.PathError{Op: "lock", Path: file.Name(), Err: err}
	default:
		return nil
	}
}
