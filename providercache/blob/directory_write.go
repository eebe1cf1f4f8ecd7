package blob

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// Put implements Bucket. It writes the file in a private
// directory, and renames it while it holds the lock.
func (d *directory) Put(ctx context.Context, key string, content *io.SectionReader, opts PutOptions) (Info, error) {
	err := cmp.Or(checkDirectoryKey(key), ctx.Err())
	if err == nil {
		err = os.MkdirAll(d.root, dirMode)
	}
	if err != nil {
		return Info{}, err
	}
	scratch.Sweep(d.root, d.now())
	dir, err := scratch.Make(d.root)
	if err != nil {
		return Info{}, err
	}
	defer dir.Remove()
	made := filepath.Join(dir.Path, "content")
	info, err := writeFile(ctx, made, key, content, opts.Private)
	if err == nil {
		err = d.locked(ctx, func(root *os.Root) error { return d.replace(ctx, root, made, key, opts) })
	}
	return info, err
}

// writeFile makes a file with the content.
func writeFile(ctx context.Context, path, key string, content *io.SectionReader, private bool) (info Info, err error) {
	mode := fileMode
	if private {
		mode = privateMode
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return Info{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	n, err := chunks.Copy(ctx, file, io.NewSectionReader(content, 0, content.Size()), make([]byte, chunks.Size))
	if err == nil && n != content.Size() {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = file.Chmod(mode) // OpenFile applied the umask
	}
	if err != nil {
		return Info{}, err
	}
	return describe(file, key)
}

// replace renames the new file into place, if the conditions are met.
func (d *directory) replace(ctx context.Context, root *os.Root, made, key string, opts PutOptions) error {
	name := filepath.FromSlash(key)
	if opts.IfAbsent {
		if _, err := root.Lstat(name); err == nil {
			return ErrChanged
		}
	}
	if opts.IfMatch != "" {
		if info, err := d.Stat(ctx, key); err != nil || info.Tag != opts.IfMatch {
			return cmp.Or(err, ErrChanged)
		}
	}
	from, err := filepath.Rel(d.root, made)
	if err == nil {
		err = root.MkdirAll(filepath.Dir(name), dirMode)
	}
	if err == nil {
		err = patient.Try(func() error { return root.Rename(from, name) })
	}
	return err
}

// Delete implements Bucket. It also removes directories that become empty.
func (d *directory) Delete(ctx context.Context, key string) error {
	if err := cmp.Or(checkDirectoryKey(key), ctx.Err()); err != nil {
		return err
	}
	return absent(d.locked(ctx, func(root *os.Root) error {
		name := filepath.FromSlash(key)
		if stat, err := root.Lstat(name); err != nil || stat.IsDir() {
			return err
		}
		if err := patient.Try(func() error { return root.Remove(name) }); err != nil {
			return err
		}
		for at := filepath.Dir(name); at != "."; at = filepath.Dir(at) {
			if root.Remove(at) != nil { // it isn't empty
				break
			}
		}
		return nil
	}))
}

func ignoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// locked calls f while it holds the file lock of the bucket.
func (d *directory) locked(ctx context.Context, f func(root *os.Root) error) error {
	held, err := filelock.Wait(ctx, filepath.Join(d.root, lockName), lockPoll)
	if err != nil {
		return err
	}
	defer held.Close()
	root, err := os.OpenRoot(d.root)
	if err != nil {
		return err
	}
	defer root.Close()
	return f(root)
}
