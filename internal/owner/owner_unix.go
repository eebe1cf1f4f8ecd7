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

// OpenPlain makes an open fail for a symlink, and not wait for a pipe's other end.
const OpenPlain = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// IsPrivate reports whether a file or directory belongs to the user who runs this program, and no
// other user but root can write to it.
func IsPrivate(_ string, info fs.FileInfo) bool {
	return IsUsers(info, false) && !OthersWrite(info.Mode())
}

// IsSecret reports whether only this user and root can read and change a file, and it has no
// further hard link.
func IsSecret(path string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 1 && info.Mode()&0o077 == 0 && IsPrivate(path, info)
}

// IsRoots reports whether a file or directory belongs to root, and no other user can write to it.
func IsRoots(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 && !OthersWrite(info.Mode())
}

// CanWrite reports whether this process can write to a file or directory. Root can write whatever
// the mode, but not to a read-only file system. If it can't be determined, CanWrite returns true.
func CanWrite(path string) bool {
	err := unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
	return !errors.Is(err, unix.EROFS) && (os.Geteuid() == 0 || !errors.Is(err, unix.EACCES))
}

// OthersWrite reports whether the group or others can write. If an access list lets further users
// write, the group's bit is set.
func OthersWrite(mode fs.FileMode) bool { return mode&0o022 != 0 }

// isOwnWay reports whether only a user and root can replace files in a directory. It calls isOwn
// for the directory above, and for a symlink's target. In a sticky directory such as /tmp, others
// can't replace what isn't theirs.
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

// IsOwn is IsPrivate for a regular file.
func IsOwn(info fs.FileInfo) bool { return IsPrivate("", info) }

// Chmod is os.Chmod.
func Chmod(path string, mode fs.FileMode) error { return os.Chmod(path, mode) }

// Exclusive is true here. It matters on systems where a user who may write to a file may also set
// its ctime.
func Exclusive(string) bool { return true }
