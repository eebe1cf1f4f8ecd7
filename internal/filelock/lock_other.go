//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package filelock

import (
	"errors"
	"os"
)

// Removable: it isn't known.
const Removable = false

const openPlain = 0

// lock: there is no lock here that ends with its process.
func lock(*os.File) error { return errors.ErrUnsupported }
