package installtest

import "golang.org/x/sys/windows"

// The system's errors for a full disk and for a read-only one.
const (
	ErrDiskFull = windows.ERROR_DISK_FULL
	ErrReadOnly = windows.ERROR_ACCESS_DENIED
)
