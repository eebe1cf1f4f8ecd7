//go:build linux || darwin

package receipt

import (
	"os"
	"syscall"

	"github.com/tfdeps/tfdeps/internal/owner"
)

// Lstat returns the stat of a path, without following a link.
func Lstat(path string) (PathStat, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return PathStat{}, err
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return PathStat{}, errNotRecordable
	}
	modified, changed, device := timesOf(sys)
	stat := PathStat{
		StatEntry: StatEntry{Mode: info.Mode(), Owner: sys.Uid, Inode: sys.Ino, Modified: modified, Changed: changed},
		Device:    device, Allocated: sys.Blocks * 512,
	}
	if info.Mode().IsRegular() {
		stat.Size = info.Size()
	}
	return stat, nil
}

// isOwn reports whether only the user and root can write to a file or make entries in a directory.
func (e StatEntry) isOwn(user int) bool {
	return (int(e.Owner) == user || e.Owner == 0) && !owner.OthersWrite(e.Mode)
}
