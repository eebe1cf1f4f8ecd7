package link

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestCopyTree_HasTheHashOfTheOriginal(t *testing.T) {
	from := filepath.Join(t.TempDir(), "from")
	cachetest.WriteTo(t, filepath.Join(from, cachetest.WidgetFile), "x")
	cachetest.WriteTo(t, filepath.Join(from, ".hidden", ".file"), "y")
	cachetest.WriteTo(t, filepath.Join(from, "docs", "a"), "a")
	cachetest.WriteTo(t, filepath.Join(from, "empty"), "")
	for name, size := range map[string]int{"piece": copyPiece, "more": copyPiece + 1} {
		cachetest.WriteTo(t, filepath.Join(from, name), strings.Repeat(name, size)[:size])
	}
	if err := must.Symlink(filepath.Join("..", cachetest.WidgetFile), filepath.Join(from, "docs", "link")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if must.Symlink(from, link) != nil {
		link = from
	}
	to := filepath.Join(t.TempDir(), "to")
	must.Succeed(t, CopyTree(t.Context(), link, to, false))
	must.Equal(t, cachetest.HashOf(t, to), cachetest.HashOf(t, from))
	err := filepath.WalkDir(to, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink != 0 {
			t.Errorf("%s is a link", path)
		}
		return err
	})
	must.Succeed(t, err)
	info, err := os.Stat(filepath.Join(to, cachetest.WidgetFile))
	if err != nil || info.Mode().Perm()&0o100 == 0 && os.PathSeparator == '/' {
		t.Errorf("%v, %v; want a file that can be run", info, err)
	}
}

func TestCopyTree_EndsWithItsContext(t *testing.T) {
	from := t.TempDir()
	cachetest.WriteTo(t, filepath.Join(from, cachetest.WidgetFile), "x")
	ctx, cancel := cachetest.ContextWithCause(t)
	cancel(cachetest.ErrStopped)
	must.Fail(t, CopyTree(ctx, from, filepath.Join(t.TempDir(), "to"), false), cachetest.ErrStopped)
}
