package disk

import (
	"errors"
	"runtime"
	"syscall"
)

// IsFull reports whether an error says that a disk, or the user's share of it,
// is full.
func IsFull(err error) bool {
	const windowsDiskFull = syscall.Errno(112)
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || runtime.GOOS == "windows" && errors.Is(err, windowsDiskFull)
}
