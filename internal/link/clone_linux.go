package link

import (
	"os"

	"golang.org/x/sys/unix"
)

// MayClone returns false if clones are known to be impossible, so that callers needn't try them: on ext2 to
// ext4 and tmpfs. The directory must exist.
func MayClone(dir string) bool {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil {
		return true
	}
	return stat.Type != unix.EXT4_SUPER_MAGIC && stat.Type != unix.TMPFS_MAGIC
}

// cloneFile makes a file that shares its blocks with another one.
func cloneFile(file original, to string) error {
	return makeFrom(file, to, func(target, source *os.File) error {
		if err := unix.IoctlFileClone(int(target.Fd()), int(source.Fd())); err != nil {
			return &os.LinkError{Op: "clone", Old: file.Path, New: to, Err: err}
		}
		return nil
	})
}
