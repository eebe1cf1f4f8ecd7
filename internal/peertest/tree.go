package peertest

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Tree returns the entries below a directory by name: the content of files, after "x " if they are executable; "-> " and the
// target of symlinks; "/" for empty directories.
func Tree(t Test, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	root, err := filepath.EvalSymlinks(dir)
	if err == nil {
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || path == root {
				return err
			}
			rel, _ := filepath.Rel(root, path)
			text, err := textOf(path, d)
			if text != "" || !d.IsDir() {
				found[filepath.ToSlash(rel)] = text
			}
			return err
		})
	}
	if err != nil {
		t.Fatalf("reading what is in %s: %v", dir, err)
	}
	return found
}

// textOf returns Tree's text for an entry, or "" for a directory that isn't empty.
func textOf(path string, d fs.DirEntry) (string, error) {
	info, err := d.Info()
	switch {
	case err != nil:
		return "", err
	case d.IsDir():
		entries, err := os.ReadDir(path)
		return map[bool]string{true: "/"}[len(entries) == 0], err
	case d.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return "-> " + target, err
	}
	content, err := os.ReadFile(path)
	return map[bool]string{true: "x "}[info.Mode()&0o100 != 0] + string(content), err
}
