package providercache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestACopyHasTheHashOfTheOriginal(t *testing.T) {
	t.Parallel()
	from := filepath.Join(t.TempDir(), "from")
	writeTo(t, filepath.Join(from, widgetFile), "x")
	writeTo(t, filepath.Join(from, ".hidden", ".file"), "y")
	writeTo(t, filepath.Join(from, "docs", "a"), "a")
	if err := os.Symlink(filepath.Join("..", widgetFile), filepath.Join(from, "docs", "link")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if os.Symlink(from, link) != nil {
		link = from
	}
	to := filepath.Join(t.TempDir(), "to")
	if err := copyTree(t.Context(), link, to); err != nil {
		t.Fatal(err)
	}
	if got, want := hashOf(t, to), hashOf(t, from); got != want {
		t.Errorf("the copy has %s, the original %s", got, want)
	}
	err := filepath.WalkDir(to, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink != 0 {
			t.Errorf("%s is a link", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(to, widgetFile))
	if err != nil || info.Mode().Perm()&0o100 == 0 && os.PathSeparator == '/' {
		t.Errorf("%v, %v; want a file that can be run", info, err)
	}
}

func TestACopyEndsWithItsContext(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	writeTo(t, filepath.Join(from, widgetFile), "x")
	ctx, cancel := contextWithCause(t)
	cancel(errStopped)
	if err := copyTree(ctx, from, filepath.Join(t.TempDir(), "to")); !errors.Is(err, errStopped) {
		t.Errorf("got %v", err)
	}
}
