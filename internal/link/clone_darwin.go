package link

import (
	"os"

	"golang.org/x/sys/unix"
)

// MayClone returns false if clones are known to be impossible, so that callers needn't try them.
func MayClone(string) bool { return true }

// quarantine is the attribute of files that a browser downloaded: macOS doesn't start a provider that has it. Copies don't
// have it either, and the package is verified.
const quarantine = "com.apple.quarantine"

// cloneFile makes a file that shares its blocks with another one. It belongs to this user, and has
// the mode and the times of the original.
func cloneFile(file original, to string) error {
	if err := unix.Clonefile(file.Path, to, unix.CLONE_NOOWNERCOPY); err != nil {
		return &os.LinkError{Op: "clone", Old: file.Path, New: to, Err: err}
	}
	_ = unix.Removexattr(to, quarantine) // usually it isn't set
	return nil
}
