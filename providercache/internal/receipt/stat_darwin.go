package receipt

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// timesOf returns what systems name differently: times in nanoseconds since 1970.
func timesOf(sys *syscall.Stat_t) (modified, changed int64, device uint64) {
	return syscall.TimespecToNsec(sys.Mtimespec), syscall.TimespecToNsec(sys.Ctimespec), uint64(uint32(sys.Dev))
}

// fileSystemOf asks for the file system that a path is on. Only those that are
// known to keep ctimes count as local. Their IDs are made of device numbers,
// so the kind alone is kept.
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
