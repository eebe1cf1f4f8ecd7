package link

import (
	"os"

	"golang.org/x/sys/unix"
)

// MayClone is false where clones are known to be impossible, so that they needn't be tried.
func MayClone(string) bool { return true }

// quarantine marks files that a browser has downloaded: macOS doesn't start a provider that has it. A copy hasn't got it, and
// the package is verified.
const quarantine = "com.apple.quarantine"

// cloneFile makes a file that shares its blocks with another one. It belongs
// to the user who runs this program, and has the mode and the times of the original.
func cloneFile(file original, to string) error {
	if err := unix.Clonefile(file.Path, to, unix.CLONE_NOOWNERCOPY); err != nil {
		return &os.LinkError{Op: "clone", Old: file.Path, New: to, Err: err}
	}
	_ = unix.Removexattr(to, quarantine) // usually there is none
	return nil
}
