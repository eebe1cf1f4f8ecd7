package link

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/internal/chunks"
)

// copyTree copies a directory.
func copyTree(ctx context.Context, from, to string) error {
	var buffer []byte // only some systems need it
	return makeTree(ctx, from, to, func(file original, to string) error {
		return makeFrom(file, to, func(target, source *os.File) error {
			err := copyBySystem(ctx, target, source)
			if !errors.Is(err, errors.ErrUnsupported) {
				return err
			}
			if buffer == nil {
				buffer = make([]byte, chunks.Size)
			}
			return copyByBuffer(ctx, target, source, buffer)
		})
	})
}

// copyByBuffer copies all of a file, whatever of it the target has already.
func copyByBuffer(ctx context.Context, target, source *os.File, buffer []byte) error {
	_, err := source.Seek(0, io.SeekStart)
	if err == nil {
		err = target.Truncate(0)
	}
	if err == nil {
		_, err = target.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = chunks.Copy(ctx, target, source, buffer)
	}
	return err
}

// KeepTimes gives the directories and files of a package that Tree made the mtimes of
// the original, as far as these were past at now. Later changes show by these times, even if they
// are made within the same moment as the package. What can't be set stays as it is.
func KeepTimes(from, to string, now time.Time) {
	var dirs []string
	keep := func(name string) {
		was, err := os.Stat(filepath.Join(from, name))
		if err == nil && was.ModTime().Before(now) {
			_ = os.Chtimes(filepath.Join(to, name), time.Time{}, was.ModTime())
		}
	}
	_ = filepath.WalkDir(to, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(to, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			dirs = append(dirs, name)
		case !isSame(filepath.Join(from, name), path):
			keep(name)
		}
		return nil
	})
	for _, name := range dirs { // in which nothing is made any more
		keep(name)
	}
}

// isSame reports whether two paths are names of one file.
func isSame(a, b string) bool {
	was, err := os.Stat(a)
	if err != nil {
		return false
	}
	is, err := os.Lstat(b)
	return err == nil && os.SameFile(was, is)
}
