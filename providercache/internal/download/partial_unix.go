//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package download

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/owner"
)

// errNotPrivate says that other users could change the file.
var errNotPrivate = errors.New("the file isn't the user's alone")

// errGone says that the file was removed while it was being opened.
var errGone = errors.New("the file was removed")

func isGone(err error) bool { return errors.Is(err, errGone) || errors.Is(err, fs.ErrNotExist) }

// lockPartial opens a file and takes its file lock, unless another process has it.
// The lock is on the file itself, so it ends with the process, and only its holder
// removes the file. The file is going to be hashed, and read again later, so no
// other user may be able to write to it.
func lockPartial(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|owner.OpenPlain|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := checkPartial(file, path); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func checkPartial(file *os.File, path string) error {
	if err := filelock.TryFile(file); err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular() || !owner.IsOwn(info) || info.Mode().Perm()&0o077 != 0:
		return errNotPrivate
	case !ok || stat.Nlink == 0 || !sameAsAt(info, path):
		return errGone
	case stat.Nlink > 1:
		return errNotPrivate
	}
	return nil
}

// sameAsAt reports whether an open file is the one at a path.
func sameAsAt(info fs.FileInfo, path string) bool {
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(info, there)
}
