//go:build unix

package owner

import (
	"io/fs"
	"os"
	"syscall"
)

// openPlain keeps an open from following a link and from waiting for a pipe.
const OpenPlain = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// isPrivate reports whether a file or directory belongs to who runs this
// program, and nobody else (but root) can write to it.
func IsPrivate(_ string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && !othersWrite(info.Mode())
}

// isRoots reports whether a file or directory belongs to root, and nobody else
// can write to it.
func IsRoots(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 && !othersWrite(info.Mode())
}

// othersWrite looks at the group as well. Where an access list lets further
// users write, the group's bit is set.
func othersWrite(mode fs.FileMode) bool { return mode&0o022 != 0 }

// isOwn reports whether a file belongs to who runs this program.
func IsOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// exclusive is a question for systems where whoever may write to a file may
// set its ctime too.
func Exclusive(string) bool { return true }
