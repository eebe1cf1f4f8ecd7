package disk

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"
)

// IsFull reports whether an error says that a disk, or the user's share of it,
// is full.
func IsFull(err error) bool {
	const windowsDiskFull = syscall.Errno(112)
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || runtime.GOOS == "windows" && errors.Is(err, windowsDiskFull)
}

// RoomError says that packages are larger than the room that there is for them, as far as their sizes are known before they are
// read.
type RoomError struct {
	Dirs       []string // where packages go
	Need, Free int64    // bytes: of the archives whose sizes are known; of the file systems of Dirs
}

// Error implements error.
func (e *RoomError) Error() string {
	return fmt.Sprintf("the packages need %s or more, and %s are free in %s: %s are missing", amount(e.Need), amount(e.Free), strings.Join(e.Dirs, " and "), amount(e.Need-e.Free))
}

// Code is "no_space".
func (e *RoomError) Code() string { return "no_space" }

// Hint says what to do.
func (e *RoomError) Hint() string { return "make room there, or put the packages on another disk" }

// amount writes a number of bytes for people, in powers of ten.
func amount(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
}
