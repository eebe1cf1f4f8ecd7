//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package filelock

import (
	"errors"
	"os"
)

// Removable is false as it is unknown for this system.
const Removable = false

// Supported is false as it is unknown for this system.
const Supported = false

const openPlain = 0

// lock returns an error: this system has no lock that ends with its process.
func lock(*os.File) error { return errors.ErrUnsupported }
