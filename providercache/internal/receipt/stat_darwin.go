package receipt

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// timesOf returns fields that systems name differently; times are in nanoseconds since 1970.
func timesOf(sys *syscall.Stat_t) (modified, changed int64, device uint64) {
	return syscall.TimespecToNsec(sys.Mtimespec), syscall.TimespecToNsec(sys.Ctimespec), uint64(uint32(sys.Dev))
}

// fileSystemOf returns the file system of a path. Only file systems that are known to keep
// ctimes count as local. Their IDs contain device numbers, so only the kind is kept.
func fileSystemOf(path string) (fileSystem, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return fileSystem{}, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	kind := unix.ByteSliceToString(stat.Fstypename[:])
	system := fileSystem{ID: kind, Granule: coarseGranule}
	if stat.Flags&unix.MNT_LOCAL == 0 {
		return system, nil
	}
	switch kind {
	case "apfs":
		system.Local, system.Granule = true, fineGranule
	case "hfs":
		system.Local = true
	}
	return system, nil
}
