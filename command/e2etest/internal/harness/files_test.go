package harness

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// TestListTree_SeesEveryDifference tests the helper: the lists of different directories
// have to differ.
func TestListTree_SeesEveryDifference(t *testing.T) {
	changes := map[string]func(dir, file string) error{
		"content":         func(dir, file string) error { return os.WriteFile(file, []byte("B"), 0o644) },
		"mode":            func(dir, file string) error { return os.Chmod(file, 0o755) },
		"directory mode":  func(dir, file string) error { return os.Chmod(dir, 0o700) },
		"one more file":   func(dir, file string) error { return os.WriteFile(filepath.Join(dir, "more"), nil, 0o644) },
		"empty directory": func(dir, file string) error { return os.Mkdir(filepath.Join(dir, "more"), 0o755) },
		"one file less":   func(dir, file string) error { return os.Remove(file) },
		"symlink": func(dir, file string) error {
			return errors.Join(os.Rename(file, dir+"/../file"), os.Symlink("../file", file))
		},
		"nothing at all": func(dir, _ string) error { return os.RemoveAll(dir) },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (strings.HasSuffix(name, "mode") || name == "symlink") {
				t.Skip("files have no modes there, nor, for everybody, symlinks")
			}
			dir := t.TempDir()
			file := filepath.Join(dir, ".terraform/providers/file")
			must.Write(t, file, "A")
			before := ListTree(t, dir)
			must.Succeed(t, change(filepath.Dir(file), file))
			if after := ListTree(t, dir); slices.Equal(before, after) {
				t.Errorf("looks the same: %q", after)
			}
		})
	}
}
