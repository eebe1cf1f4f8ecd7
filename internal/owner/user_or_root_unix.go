//go:build unix

package owner

import (
	"io/fs"
	"os"
	"syscall"
)

// OwnedByUserOrRoot reports whether a file belongs to the user who runs this program, or to root.
func OwnedByUserOrRoot(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(stat.Uid) == os.Geteuid() || stat.Uid == 0)
}

// IsUsers reports whether a file belongs to the user who runs this program. The flag is the answer on systems where a file's
// information has no owner.
func IsUsers(info fs.FileInfo, _ bool) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
