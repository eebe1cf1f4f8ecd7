//go:build unix

package products

import (
	"io/fs"
	"syscall"
)

// inode is a file's number in its file system.
func inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Ino)
	}
	return 0
}
