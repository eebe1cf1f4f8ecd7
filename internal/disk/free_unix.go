//go:build linux || darwin

package disk

import (
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// freeOn returns how many bytes this user can write to a directory's file system, and the device
// number of that. known is false for file systems that report no blocks, such as some FUSE ones.
func freeOn(dir string) (free int64, system uint64, known bool) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, 0, false
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	var stat unix.Statfs_t
	if !ok || unix.Statfs(dir, &stat) != nil || stat.Blocks == 0 || stat.Bsize <= 0 {
		return 0, 0, false
	}
	size := uint64(stat.Bsize)
	if uint64(stat.Bavail) > math.MaxInt64/size {
		return math.MaxInt64, uint64(sys.Dev), true
	}
	return int64(uint64(stat.Bavail) * size), uint64(sys.Dev), true
}
