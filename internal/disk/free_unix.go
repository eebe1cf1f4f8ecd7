//go:build linux || darwin

package disk

import (
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// freeOn is how many bytes this user can write to the file system that a directory
// is on, and which one that is. File systems that count no blocks, as some behind
// FUSE, don't tell.
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
