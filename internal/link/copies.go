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

// copyPiece is how much is copied between two looks at the context.
const copyPiece = 16 << 20

// CopyTree copies a directory to a path at which nothing exists, with symbolic links as they are or as what they lead to. After an
// error a part of it may be there. Where the kernel copies files by itself, their bytes don't come by here.
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
