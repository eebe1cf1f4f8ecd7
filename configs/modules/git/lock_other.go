//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package git

import (
	"errors"
	"os"
)

// tryLock: there is no lock here that ends with its process.
func tryLock(string) (*os.File, error) { return nil, errors.ErrUnsupported }
