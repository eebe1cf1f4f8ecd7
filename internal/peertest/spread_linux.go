package peertest

import (
	"os"
	"syscall"
	"unsafe"
)

// spread marks a directory as the top of a hierarchy (chattr +T): ext4 then places its subdirectories in different block groups.
// Other file systems refuse the flag, and nothing depends on it.
func spread(dir string) {
	const getFlags, setFlags, topOfHierarchy = 0x80086601, 0x40086602, 0x20000 // FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_TOPDIR_FL
	file, err := os.Open(dir)
	if err != nil {
		return
	}
	defer file.Close()
	var flags [2]int32 // the kernel writes only the first
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), getFlags, uintptr(unsafe.Pointer(&flags))); errno == 0 {
		flags[0] |= topOfHierarchy
		_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), setFlags, uintptr(unsafe.Pointer(&flags)))
	}
}
