//go:build unix

package scratch

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUser reports whether a directory belongs to who runs this program. Where all users
// may write, another one could exchange a directory of theirs for a symlink while root removes it; one of
// root's they can't.
func ownedByUser(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
