package link

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// copyPiece is how many bytes are copied between two checks of the context.
const copyPiece = 16 << 20

// CopyTree copies a directory to a path at which nothing exists. It keeps symlinks if keepLinks is set, otherwise it copies their
// targets. After an error a part of the copy may remain. The kernel copies the bytes if it can (copy_file_range).
func CopyTree(ctx context.Context, from, to string, keepLinks bool) error {
	return makeTree(ctx, from, to, keepLinks, func(file original, to string) error {
		return makeFrom(file, to, func(target, source *os.File) (err error) {
			for err == nil {
				if err = context.Cause(ctx); err == nil {
					_, err = io.CopyN(target, source, copyPiece)
				}
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		})
	})
}

// KeepTimes sets the mtimes of directories and files that Tree made to those of the original, if
// these are before now. So a later change has another mtime, even within the clock's resolution
// after the package was made. Errors are ignored.
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
		case !IsSame(filepath.Join(from, name), path):
			keep(name)
		}
		return nil
	})
	for _, name := range dirs { // last, as making files changes their directories' times
		keep(name)
	}
}

// IsSame reports whether two paths name the same file. If b is a link, its target doesn't count.
func IsSame(a, b string) bool {
	was, err := os.Stat(a)
	if err != nil {
		return false
	}
	is, err := os.Lstat(b)
	return err == nil && os.SameFile(was, is)
}
