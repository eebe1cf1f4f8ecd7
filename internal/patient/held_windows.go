package patient

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isHeld reports whether another program may have the file open. Windows also denies access to a file whose removal is
// pending.
func isHeld(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}
