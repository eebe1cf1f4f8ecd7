package link

import (
	"os"

	"golang.org/x/sys/unix"
)

// MayClone is false where clones are known to be impossible, so that they needn't be tried.
func MayClone(string) bool { return true }

// cloneFile makes a file that shares its blocks with another one. It belongs
// to the user who runs this program, and has the mode and the times of the original.
func cloneFile(file original, to string) error {
	if err := unix.Clonefile(file.Path, to, unix.CLONE_NOOWNERCOPY); err != nil {
		return &os.LinkError{Op: "clone", Old: file.Path, New: to, Err: err}
	}
	return nil
}
