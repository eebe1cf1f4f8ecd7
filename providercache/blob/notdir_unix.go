//go:build !windows

package blob

import (
	"errors"
	"syscall"
)

// isNotDirectory reports that a path leads through a file.
func isNotDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
