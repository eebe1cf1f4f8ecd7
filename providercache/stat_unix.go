//go:build linux || darwin

package providercache

import (
	"os"
	"syscall"
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
	modified, changed, device := told(sys)
	stat := pathStat{
		statEntry: statEntry{Mode: info.Mode(), Inode: sys.Ino, Modified: modified, Changed: changed},
		Device:    device, Owner: sys.Uid, Allocated: sys.Blocks * 512,
	}
	if info.Mode().IsRegular() {
		stat.Size = info.Size()
	}
	return stat, nil
}
