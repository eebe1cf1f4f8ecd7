package wholefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

func TestRead_HasALimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must.Succeed(t, os.WriteFile(path, []byte("12345"), 0o600))
	for _, read := range []func(string, int64) ([]byte, error){wholefile.Read, wholefile.ReadAny} {
		if got, err := read(path, 5); err != nil || string(got) != "12345" {
			t.Errorf("got %q, %v", got, err)
		}
		if got, err := read(path, 4); !errors.Is(err, wholefile.ErrTooLarge) || got != nil || !strings.Contains(err.Error(), path) {
			t.Errorf("got %q, %v", got, err)
		}
		if _, err := read(path+"-none", 4); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("of what isn't there: %v", err)
		}
	}
}

func TestRead_TakesRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	if _, err := wholefile.Read(dir, 5); err == nil || !strings.Contains(err.Error(), dir+" is a directory") {
		t.Error(err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("there is no device with a name like a file's")
	}
	if _, err := wholefile.Read("/dev/null", 5); err == nil || !strings.Contains(err.Error(), "/dev/null is not a regular file") {
		t.Error(err)
	}
	if got, err := wholefile.ReadAny("/dev/null", 5); err != nil || len(got) != 0 {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestSave_LeavesTheModeToTheUmask(t *testing.T) {
	dir := t.TempDir()
	usual, saved := filepath.Join(dir, "usual"), filepath.Join(dir, "new", "saved")
	must.Succeed(t, os.WriteFile(usual, nil, 0o666))
	must.Succeed(t, wholefile.Save(saved, nil, 0o666))
	want, err := os.Stat(usual)
	must.Succeed(t, err)
	if got, err := os.Stat(saved); err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, want %v (%v)", got.Mode(), want.Mode(), err)
	}
}

func TestWrite_ReplacesAsAWhole(t *testing.T) {
	for name, write := range map[string]func(string, []byte, fs.FileMode) error{"Write": wholefile.Write, "WriteDurably": wholefile.WriteDurably} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
			must.Succeed(t, os.WriteFile(other, []byte("other"), 0o600))
			if err := os.Symlink(other, path); err != nil && runtime.GOOS != "windows" {
				t.Fatal(err)
			}
			for _, mode := range []fs.FileMode{0o644, 0o600} {
				must.Succeed(t, write(path, []byte("new"), mode))
				info, err := os.Lstat(path)
				if err != nil || runtime.GOOS != "windows" && info.Mode() != mode {
					t.Errorf("mode %v, want %v (%v)", info.Mode(), mode, err)
				}
			}
			if !wholefile.Has(path, []byte("new")) || wholefile.Has(path, []byte("newer")) || wholefile.Has(path, []byte("ne")) {
				t.Error("the file hasn't the content that was written")
			}
			if !wholefile.Has(other, []byte("other")) {
				t.Error("the link was written through")
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 2 {
				t.Errorf("there are %v, %v", entries, err)
			}
		})
	}
}

func TestSave_AFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	must.Succeed(t, os.MkdirAll(filepath.Join(path, "full"), 0o755))
	if err := wholefile.Write(path, []byte("new"), 0o644); err == nil {
		t.Fatal("a directory was replaced")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
	if err := wholefile.Write(filepath.Join(dir, "none", "file"), nil, 0o644); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestSave_MakesTheDirectoryAndLeavesSameContentAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "file")
	must.Succeed(t, wholefile.Save(path, []byte("1"), 0o644))
	before, err := os.Stat(path)
	must.Succeed(t, err)
	for _, content := range []string{"1", "2"} {
		same := content == "1"
		must.Succeed(t, wholefile.Save(path, []byte(content), 0o644))
		after, err := os.Stat(path)
		if err != nil || os.SameFile(before, after) != same {
			t.Errorf("content %s: %v, the file is the same: %v", content, err, !same)
		}
		if same {
			continue
		}
		if got, err := wholefile.Read(path, 9); err != nil || string(got) != content {
			t.Errorf("got %q, %v", got, err)
		}
	}
}
