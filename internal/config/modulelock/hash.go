package modulelock

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/treehash"
)

// HashTree reads the directory of an installed package and returns the hash of
// its tree, as the package's documentation defines it. A symlink in place of
// dir itself is followed. What is neither a file, a directory nor a symlink is
// an error, and so is a name with a newline. When ctx ends, its cause is
// returned.
func HashTree(ctx context.Context, dir string) (getproviders.Hash, error) {
	h, err := hashTree(ctx, dir)
	if err != nil {
		return "", fmt.Errorf("hashing the module package in %s: %w", dir, err)
	}
	return h, nil
}

func hashTree(ctx context.Context, dir string) (getproviders.Hash, error) {
	root, err := filepath.EvalSymlinks(dir) // the walk wouldn't enter a link
	if err != nil {
		return "", err
	}
	var files []treehash.File
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isBookkeeping(root, path, entry):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		digest, err := digestEntry(ctx, path, filepath.ToSlash(name), entry)
		files = append(files, digest)
		return err
	})
	if err != nil {
		return "", err
	}
	return treehash.H1(files)
}

// isBookkeeping reports whether something belongs to version control: what it
// has for itself differs from one checkout of a tree to the next.
func isBookkeeping(root, path string, entry fs.DirEntry) bool {
	isTop := filepath.Dir(path) == root
	switch entry.Name() {
	case ".git":
		return path != root && (isTop || entry.Type().IsRegular())
	case ".hg":
		return path != root && isTop
	}
	return false
}

// digestEntry returns the line of the list for a file or a symlink.
func digestEntry(ctx context.Context, path, name string, entry fs.DirEntry) (treehash.File, error) {
	switch entry.Type() {
	case 0:
		return treehash.Digest(ctx, path, name)
	case fs.ModeSymlink:
		target, err := os.Readlink(path)
		sum := sha256.Sum256([]byte(filepath.ToSlash(target)))
		return treehash.File{Name: "/" + name, SHA256: sum}, err
	default:
		return treehash.File{}, fmt.Errorf("%s is neither a file nor a symlink", path)
	}
}
