//go:build unix

package owner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// OpenPlain keeps an open from following a link and from waiting for a pipe.
const OpenPlain = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// IsPrivate reports whether a file or directory belongs to the user who
// runs this program, and no other user but root can write to it.
func IsPrivate(_ string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && !OthersWrite(info.Mode())
}

// IsSecret reports whether a file can be read and changed by who runs this program and
// by root alone, and has no second name.
func IsSecret(path string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 1 && info.Mode()&0o077 == 0 && IsPrivate(path, info)
}

// IsRoots reports whether a file or directory belongs to root, and no other
// user can write to it.
func IsRoots(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 && !OthersWrite(info.Mode())
}

// CanWrite reports whether this process can write to a file or directory. For
// root modes are no obstacle, but a file system that is mounted read-only is.
// What can't be found out counts as yes.
func CanWrite(path string) bool {
	err := unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
	return !errors.Is(err, unix.EROFS) && (os.Geteuid() == 0 || !errors.Is(err, unix.EACCES))
}

// OthersWrite looks at the group as well. Where an access list lets further
// users write, the group's bit is set.
func OthersWrite(mode fs.FileMode) bool { return mode&0o022 != 0 }

// isOwnWay reports whether only a user and root can replace what is in a
// directory; of those above it, and of where a link leads to, it asks. In one
// that is sticky, like /tmp, others can't touch what isn't theirs.
func isOwnWay(dir string, user int, isOwn func(dir string) bool) bool {
	above := filepath.Dir(dir)
	info, err := os.Lstat(dir)
	if err != nil || above != dir && !isOwn(above) {
		return false
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != user && stat.Uid != 0 {
		return false
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(dir)
		if err == nil && !filepath.IsAbs(to) {
			above, err = filepath.EvalSymlinks(above)
			to = filepath.Join(above, to)
		}
		return err == nil && isOwn(filepath.Clean(to))
	}
	return info.IsDir() && (info.Mode()&fs.ModeSticky != 0 || !OthersWrite(info.Mode()))
}

// IsOwn is IsPrivate for what is known to be a file.
func IsOwn(info fs.FileInfo) bool { return IsPrivate("", info) }

// Chmod is os.Chmod.
func Chmod(path string, mode fs.FileMode) error { return os.Chmod(path, mode) }

// Exclusive matters on systems where a user who may write to a file may set its ctime
// too. Here it is true.
func Exclusive(string) bool { return true }
