//go:build !(darwin || linux)

package link

import (
	"errors"
	"os"
)

// MayClone returns false if clones are known to be impossible, so that callers needn't try them.
func MayClone(string) bool { return false }

// cloneFile fails, as this system has no clones.
func cloneFile(file original, to string) error {
	return &os.LinkError{Op: "clone", Old: file.Path, New: to, Err: errors.ErrUnsupported}
}
