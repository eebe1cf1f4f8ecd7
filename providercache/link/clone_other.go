//go:build !(darwin || linux)

package link

import (
	"errors"
	"os"
)

// cloneFile fails: this system can't make files that share blocks.
func cloneFile(file original, to string) error {
	return &os.LinkError{Op: "clone", Old: file.Path, New: to, Err: errors.ErrUnsupported}
}
