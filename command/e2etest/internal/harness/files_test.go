package harness

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// TestListTree_SeesEveryDifference tests the tester: directories that aren't
// the same mustn't look so.
func TestListTree_SeesEveryDifference(t *testing.T) {
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
			providers := filepath.Join(dir, ".terraform/providers")
			must.Succeed(t, errors.Join(os.MkdirAll(providers, 0o755), os.WriteFile(filepath.Join(providers, "file"), []byte("A"), 0o644)))
			before := ListTree(t, dir)
			must.Succeed(t, change(providers))
			if after := ListTree(t, dir); slices.Equal(before, after) {
				t.Errorf("looks the same: %q", after)
			}
		})
	}
}
