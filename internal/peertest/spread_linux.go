package peertest

import (
	"os"

	"golang.org/x/sys/unix"
)

// topOfHierarchy is FS_TOPDIR_FL of the kernel's linux/fs.h.
const topOfHierarchy = 0x20000

// spread marks a directory as the top of a hierarchy (chattr +T): ext4 then places its subdirectories in different block groups.
// Other file systems refuse the flag, and nothing depends on it.
func spread(dir string) {
	file, err := os.Open(dir)
	if err != nil {
		return
	}
	defer file.Close()
	fd := int(file.Fd())
	if flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS); err == nil {
		_ = unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags|topOfHierarchy)
	}
}
