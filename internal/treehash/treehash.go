// Package treehash computes the h1 hash of a package's files.
package treehash

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
)

// File is a file of a package: its slash-separated path in the package and the SHA-256 of its
// content.
type File struct {
	Name   string
	SHA256 [32]byte
}

// H1 returns the h1 hash for the digests of a package's files. It is Go's directory hash: the
// SHA-256, in base64, of a list in the form of sha256sum's output, sorted by name. Modes, times and
// directories don't matter.
//
// The order of files doesn't matter. A name with a newline is an error, since it could look like
// another line of the list.
func H1(files []File) (getproviders.Hash, error) {
	sorted := slices.SortedFunc(slices.Values(files), func(a, b File) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), slices.Compare(a.SHA256[:], b.SHA256[:]))
	})
	list := sha256.New()
	for _, file := range sorted {
		if strings.Contains(file.Name, "\n") {
			return "", fmt.Errorf("can't hash a package with a newline in the file name %q", file.Name)
		}
		fmt.Fprintf(list, "%x  %s\n", file.SHA256, file.Name)
	}
	return getproviders.Hash(hashing.H1 + ":" + base64.StdEncoding.EncodeToString(list.Sum(nil))), nil
}

// Dir reads all files of an unpacked package and returns its h1. dir itself and files may be
// symlinks, which it follows; a symlink to a directory inside the package is an error, as is
// anything else that isn't a regular file. If ctx is done, the error is its cause.
func Dir(ctx context.Context, dir string) (getproviders.Hash, error) {
	return DirProgress(ctx, dir, nil)
}

// DirProgress is Dir, and calls read with the number of bytes after each read from a file, in the
// caller's goroutine. read may be nil.
func DirProgress(ctx context.Context, dir string, read func(bytes int64)) (getproviders.Hash, error) {
	h, err := hashDir(ctx, dir, read)
	if err != nil {
		return "", fmt.Errorf("hashing the package in %s: %w", dir, err)
	}
	return h, nil
}

func hashDir(ctx context.Context, dir string, read func(bytes int64)) (getproviders.Hash, error) {
	// A package directory is often a symlink into a cache, which WalkDir wouldn't follow.
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	var files []File
	buffer := make([]byte, 256<<10)
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		sum, err := hashFile(ctx, path, buffer, read)
		files = append(files, File{Name: filepath.ToSlash(name), SHA256: sum})
		return err
	})
	if err != nil {
		return "", err
	}
	return H1(files)
}

// Digest reads the file at path, whose name in the package is name. It follows a symlink. Anything
// but a regular file is an error. If ctx is done, the error is its cause.
func Digest(ctx context.Context, path, name string) (File, error) {
	sum, err := hashFile(ctx, path, nil, nil)
	return File{Name: name, SHA256: sum}, err
}

func hashFile(ctx context.Context, path string, buffer []byte, read func(bytes int64)) (sum [32]byte, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return sum, err
	}
	if !info.Mode().IsRegular() { // opening a named pipe would block
		return sum, fmt.Errorf("%s is not a file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	digest := sha256.New()
	if _, err := io.CopyBuffer(digest, contextReader{ctx, file, read}, buffer); err != nil {
		return sum, err
	}
	digest.Sum(sum[:0])
	return sum, nil
}

// contextReader stops when its context is done: an executable may have hundreds of megabytes, and a
// user who interrupts doesn't want to wait for it.
type contextReader struct {
	ctx  context.Context
	r    io.Reader
	read func(bytes int64) // called with the number of bytes after each read; nil means not called
}

func (c contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	n, err := c.r.Read(p)
	if c.read != nil {
		c.read(int64(n))
	}
	return n, err
}
