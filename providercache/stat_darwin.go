package providercache

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func lstat(path string) (pathStat, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return pathStat{}, err
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return pathStat{}, errNotRecordable
	}
	stat := pathStat{
		statEntry: statEntry{
			Mode: info.Mode(), Inode: sys.Ino,
			Modified: syscall.TimespecToNsec(sys.Mtimespec), Changed: syscall.TimespecToNsec(sys.Ctimespec),
		},
		Device: uint64(uint32(sys.Dev)), Owner: sys.Uid, Allocated: sys.Blocks * 512,
	}
	if info.Mode().IsRegular() {
		stat.Size = info.Size()
	}
	return stat, nil
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
