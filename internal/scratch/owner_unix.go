//go:build unix

package scratch

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUser reports whether a directory belongs to the user who runs this program. In a directory that
// all users can write to, another user could replace a directory of their own with a symlink while root
// removes it; they can't replace root's.
func ownedByUser(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
