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
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/patient"
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
	root, names, err := Names(dir)
	if err != nil {
		return "", err
	}
	files := make([]File, len(names))
	buffer := make([]byte, 256<<10)
	for i, name := range names {
		if files[i], err = Digest(ctx, filepath.Join(root, name), name, buffer, read); err != nil {
			return "", err
		}
	}
	return H1(files)
}

// Names returns the slash-separated paths of a package's files, sorted, and the directory that they are below: dir without
// symlinks. A package's directory is often a symlink into a cache, which WalkDir wouldn't follow.
func Names(dir string) (root string, names []string, err error) {
	if root, err = filepath.EvalSymlinks(dir); err != nil {
		return "", nil, err
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	slices.Sort(names)
	return root, names, err
}

// Digest reads the file at path, whose name in the package is name. It follows a symlink. Anything
// but a regular file is an error. The rest is as for Copy.
func Digest(ctx context.Context, path, name string, buffer []byte, read func(bytes int64)) (File, error) {
	file, _, err := patient.OpenRegular(path)
	if err != nil {
		return File{}, err
	}
	defer file.Close()
	return Copy(ctx, io.Discard, file, name, buffer, read)
}

// Copy writes the content of a file, whose name in the package is name, to a writer. It calls read, which may be nil, with the number
// of bytes after each part. If ctx is done, the error is its cause.
func Copy(ctx context.Context, to io.Writer, content io.Reader, name string, buffer []byte, read func(bytes int64)) (File, error) {
	sum := sha256.New()
	_, err := chunks.Copy(ctx, io.MultiWriter(to, sum, chunks.Counting(read)), content, buffer)
	return File{Name: name, SHA256: [32]byte(sum.Sum(nil))}, err
}
