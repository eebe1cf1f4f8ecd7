package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
)

// readLock returns the lock file's content, or that there is none.
func readLock(t *testing.T, dir string) string {
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

// listTree describes everything below a directory's .terraform.
func listTree(t *testing.T, dir string) []string {
	t.Helper()
	lines, err := treeOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// treeOf describes everything below a directory's .terraform, an entry a
// line: name and mode, and a file's content or a symlink's target.
func treeOf(dir string) (lines []string, err error) {
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

// TestListTreeSeesEveryDifference tests the tester: directories that aren't
// the same mustn't look so.
func TestListTreeSeesEveryDifference(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are neither modes nor, for everybody, symlinks")
	}
	changes := map[string]func(providers string) error{
		"content":         func(dir string) error { return os.WriteFile(filepath.Join(dir, "file"), []byte("B"), 0o644) },
		"mode":            func(dir string) error { return os.Chmod(filepath.Join(dir, "file"), 0o755) },
		"directory mode":  func(dir string) error { return os.Chmod(dir, 0o700) },
		"one more file":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "more"), nil, 0o644) },
		"empty directory": func(dir string) error { return os.Mkdir(filepath.Join(dir, "more"), 0o755) },
		"one file less":   func(dir string) error { return os.Remove(filepath.Join(dir, "file")) },
		"symlink": func(dir string) error {
			file := filepath.Join(dir, "file")
			return errors.Join(os.Rename(file, dir+"/../file"), os.Symlink("../file", file))
		},
		"nothing at all": os.RemoveAll,
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			providers := filepath.Join(dir, ".terraform", "providers")
			if err := errors.Join(os.MkdirAll(providers, 0o755), os.WriteFile(filepath.Join(providers, "file"), []byte("A"), 0o644)); err != nil {
				t.Fatal(err)
			}
			before := listTree(t, dir)
			if err := change(providers); err != nil {
				t.Fatal(err)
			}
			if after := listTree(t, dir); slices.Equal(before, after) {
				t.Errorf("looks the same: %q", after)
			}
		})
	}
}
