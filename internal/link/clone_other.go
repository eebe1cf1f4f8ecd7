//go:build !(darwin || linux)

package link

import (
	"errors"
	"os"
)

// MayClone is false where clones are known to be impossible, so that they needn't be tried.
func MayClone(string) bool { return false }

// cloneFile fails: this system can't make files that share blocks.
func cloneFile(file original, to string) error {
	return &os.LinkError{Op: "clone", Old: file.Path, New: to, Err: errors.ErrUnsupported}
}
