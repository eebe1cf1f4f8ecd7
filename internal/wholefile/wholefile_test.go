package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestRead_HasALimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must.Succeed(t, os.WriteFile(path, []byte("12345"), 0o600))
	readAny := func(path string, max int64) ([]byte, error) { return ReadAny(t.Context(), path, max) }
	for _, read := range []func(string, int64) ([]byte, error){Read, readAny} {
		must.Equal(t, string(must.Get(read(path, 5))(t)), "12345")
		if got, err := read(path, 4); !errors.Is(err, ErrTooLarge) || got != nil || !strings.Contains(err.Error(), path) {
			t.Errorf("got %q, %v", got, err)
		}
		must.Fail(t, must.ErrorOf(read(path+"-none", 4)), fs.ErrNotExist)
	}
}

func TestRead_TakesRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	_, err := Read(dir, 5)
	must.Contain(t, err, dir+" is a directory")
	if runtime.GOOS == "windows" {
		return // there is no device with a name like a file's
	}
	if _, err := Read("/dev/null", 5); err == nil || !strings.Contains(err.Error(), "/dev/null is not a regular file") {
		t.Error(err)
	}
	must.Len(t, must.Get(ReadAny(t.Context(), "/dev/null", 5))(t), 0)
}

func TestSave_LeavesTheModeToTheUmask(t *testing.T) {
	dir := t.TempDir()
	usual, saved := filepath.Join(dir, "usual"), filepath.Join(dir, "new", "saved")
	must.Succeed(t, os.WriteFile(usual, nil, 0o666))
	must.Succeed(t, Save(saved, nil, 0o666))
	want := must.Get(os.Stat(usual))(t)
	must.Equal(t, must.Get(os.Stat(saved))(t).Mode(), want.Mode())
}

func TestWrite_ReplacesAsAWhole(t *testing.T) {
	for name, write := range map[string]func(string, []byte, fs.FileMode) error{"Write": Write, "WriteDurably": WriteDurably} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
			must.Succeed(t, os.WriteFile(other, []byte("other"), 0o600))
			if err := must.Symlink(other, path); err != nil && runtime.GOOS != "windows" {
				t.Fatal(err)
			}
			for _, mode := range []fs.FileMode{0o644, 0o600} {
				must.Succeed(t, write(path, []byte("new"), mode))
				info, err := os.Lstat(path)
				if err != nil || runtime.GOOS != "windows" && info.Mode() != mode {
					t.Errorf("mode %v, want %v (%v)", info.Mode(), mode, err)
				}
			}
			if !Has(path, []byte("new")) || Has(path, []byte("newer")) || Has(path, []byte("ne")) {
				t.Error("the file hasn't the content that was written")
			}
			if !Has(other, []byte("other")) {
				t.Error("the link was written through")
			}
			must.Len(t, must.Get(os.ReadDir(dir))(t), 2)
		})
	}
}

func TestSave_AFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	must.Succeed(t, os.MkdirAll(filepath.Join(path, "full"), 0o755))
	must.Refuse(Write(path, []byte("new"), 0o644))(t, "a directory was replaced")
	must.Len(t, must.Get(os.ReadDir(dir))(t), 1)
	must.Fail(t, Write(filepath.Join(dir, "none", "file"), nil, 0o644), fs.ErrNotExist)
}

func TestSave_MakesTheDirectoryAndLeavesSameContentAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "file")
	must.Succeed(t, Save(path, []byte("1"), 0o644))
	before := must.Get(os.Stat(path))(t)
	for _, content := range []string{"1", "2"} {
		same := content == "1"
		must.Succeed(t, Save(path, []byte(content), 0o644))
		must.Equal(t, os.SameFile(before, must.Get(os.Stat(path))(t)), same, content)
		if same {
			continue
		}
		must.Equal(t, string(must.Get(Read(path, 9))(t)), content)
	}
}
