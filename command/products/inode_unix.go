//go:build unix

package products

import (
	"io/fs"
	"syscall"
)

// inode returns a file's inode number.
func inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Ino)
	}
	return 0
}
