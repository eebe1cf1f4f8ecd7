//go:build !windows

package blob

import (
	"errors"
	"syscall"
)

// isNotDirectory reports whether a parent in a path is a file.
func isNotDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
