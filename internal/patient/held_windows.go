package patient

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isHeld reports whether another program may have the file open. Access is denied to a file that is about to be removed, too.
func isHeld(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}
