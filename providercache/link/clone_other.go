//go:build !(darwin || linux)

package link

import (
	"errors"
	"os"
)

// cloneFile would make a file that shares its blocks with another one; there
// is no way here.
func cloneFile(file original, to string) error {
	return &os.LinkError{Op: "clone", Old: file.Path, New: to, Err: errors.ErrUnsupported}
}
