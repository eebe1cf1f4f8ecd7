package download

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

func TestOpenPartial_IsForOneProcessAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "partial")
	first := must.Get(openPartial(dir, [32]byte{1}))(t)
	if second, err := openPartial(dir, [32]byte{1}); !errors.Is(err, filelock.ErrHeld) {
		t.Fatalf("got %v, %v while it was being worked on", second, err)
	}
	other := must.Get(openPartial(dir, [32]byte{2}))(t)
	other.Close()
	first.Close()
	again := must.Get(openPartial(dir, [32]byte{1}))(t)
	again.Close()
}

// removed removes an open file, and reports whether the system allows that.
func removed(t *testing.T, path string) bool {
	t.Helper()
	err := os.Remove(path)
	must.Equal(t, err == nil, filelock.Removable, err)
	return err == nil
}

// TestCheckPartial_RefusesARemovedFile: the file is opened before, and locked after, another
// process removes it. Windows doesn't let it do that.
func TestCheckPartial_RefusesARemovedFile(t *testing.T) {
	for name, replace := range map[string]bool{"removed": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "partial")
			file := must.Get(os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600))(t)
			defer file.Close()
			gone := removed(t, path)
			if gone && replace {
				must.Succeed(t, os.WriteFile(path, nil, 0o600))
			}
			must.Equal(t, errors.Is(checkPartial(file, path), fs.ErrNotExist), gone)
		})
	}
}

// TestArchive_IsWhatWasWritten: a user who can write to the cache could replace a partial
// file.
func TestArchive_IsWhatWasWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "partial")
	file := must.Get(openPartial(dir, [32]byte{1}))(t)
	received := Archive{Path: file.Name(), File: &partialFile{file, true}}
	defer received.Discard()
	content := cachetest.ArchiveOf(t, cachetest.Item{Name: cachetest.WidgetFile, Content: "good"})
	must.Get(file.Write(content))(t)
	if removed(t, file.Name()) {
		must.Succeed(t, os.WriteFile(file.Name(), []byte("evil"), 0o600))
	}
	must.Get(unpack.Open(received.File, int64(len(content)), cachetest.Widget, unpack.DefaultLimits()))(t)
}
