package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// copyTree copies what is in a directory into another one, which is empty.
// Symlinks stay what they are, wherever they lead.
func copyTree(ctx context.Context, src, dst string) error {
	return filepath.WalkDir(src, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		relative, err := filepath.Rel(src, name)
		if err != nil || relative == "." {
			return err
		}
		return copyEntry(name, filepath.Join(dst, relative), d)
	})
}

func copyEntry(from, to string, d fs.DirEntry) error {
	switch {
	case d.IsDir():
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Mkdir(to, info.Mode().Perm()|0o700)
	case d.Type() == fs.ModeSymlink:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case d.Type().IsRegular():
		return copyFile(from, to)
	default:
		return fmt.Errorf("%s is neither a file nor a directory nor a symlink", from)
	}
}

// smallFile is up to which size, in bytes, a file is copied by one read and one
// write. Most files of modules have less than a tenth of it.
const smallFile = 256 << 10

func copyFile(from, to string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return err
	}
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	if info.Size() <= smallFile {
		err = copySmall(w, r, info.Size())
	} else {
		_, err = io.Copy(w, r) // as they are, so that the system may clone
	}
	return errors.Join(err, w.Close())
}

func copySmall(w io.Writer, r io.Reader, size int64) error {
	content := make([]byte, size)
	if _, err := io.ReadFull(r, content); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}
