package installtest

import "syscall"

// The system's errors for a full disk and for a read-only one.
const (
	ErrDiskFull = syscall.ENOSPC
	ErrReadOnly = syscall.EROFS
)
