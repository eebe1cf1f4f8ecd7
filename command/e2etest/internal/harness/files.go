package harness

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/must"
)

func ReadText(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// WorkDir is a new directory with a configuration.
func WorkDir(tb testing.TB, config string) string {
	tb.Helper()
	dir := tb.TempDir()
	must.Write(tb, filepath.Join(dir, "main.tf"), config)
	return dir
}

// ReadLock returns the lock file's content, or "(no file)".
func ReadLock(t *testing.T, dir string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, depsfile.FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return "(no file)\n"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// ListTree describes everything below a directory's .terraform.
func ListTree(t *testing.T, dir string) []string {
	t.Helper()
	lines, err := TreeOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// TreeOf describes everything below a directory's .terraform, an entry a
// line: name and mode, and a file's content or a symlink's target.
func TreeOf(dir string) (lines []string, err error) {
	root := filepath.Join(dir, ".terraform")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if path == root && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		content, err := contentOf(path, info.Mode())
		lines = append(lines, fmt.Sprintf("%s %s %s", info.Mode(), filepath.ToSlash(name), content))
		return err
	})
	return lines, err
}

func contentOf(path string, mode fs.FileMode) (string, error) {
	switch {
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return "-> " + target, err
	case mode.IsRegular():
		content, err := os.ReadFile(path)
		return fmt.Sprintf("%x", sha256.Sum256(content)), err
	default:
		return "", nil
	}
}

// File is a file's mode and content.
type File struct {
	Mode    fs.FileMode
	Content string
}

// Files returns all regular files below a directory, with symlinks followed, but without .git, by their relative paths with slashes.
func Files(t testing.TB, dir string) map[string]File {
	t.Helper()
	all := map[string]File{}
	must.Succeed(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && errors.Is(err, fs.ErrNotExist):
			return nil
		case err == nil && d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case err != nil:
			return err
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = File{info.Mode(), string(content)}
		return err
	}))
	return all
}

func LockOf(t *testing.T, dir string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, depsfile.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
