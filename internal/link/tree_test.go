package link

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestLinkMode_HasAName(t *testing.T) {
	t.Parallel()
	for mode, name := range map[Mode]string{
		Auto: "auto", Symlink: "symlink", Clone: "clone", Hardlink: "hardlink", Copy: "copy",
	} {
		if got, err := ParseMode(name); got != mode || err != nil || mode.String() != name {
			t.Errorf("%q is %v, %v", name, got, err)
		}
	}
	for _, given := range []string{"", "Copy", "reflink", "symlink "} {
		must.Refuse(ParseMode(given))(t, given)
	}
	must.Equal(t, Mode(17).String(), "LinkMode(17)")
}

// packageToLink makes a package with a directory, several modes and, if possible, a symlink.
func packageToLink(t *testing.T) string {
	t.Helper()
	from := filepath.Join(t.TempDir(), "from")
	cachetest.WriteTo(t, filepath.Join(from, cachetest.WidgetFile), "the provider")
	cachetest.WriteTo(t, filepath.Join(from, ".hidden", ".page"), "words")
	must.Succeed(t, os.Chmod(filepath.Join(from, ".hidden", ".page"), 0o444))
	if err := must.Symlink(filepath.Join("..", cachetest.WidgetFile), filepath.Join(from, ".hidden", "link")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	return from
}

func TestLink_APackageAppearsByEachMode(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{Symlink, Clone, Hardlink, Copy} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			original := packageToLink(t)
			for name, size := range map[string]int{"empty": 0, "piece": copyPiece, "more": copyPiece + 1} {
				cachetest.WriteTo(t, filepath.Join(original, name), strings.Repeat(name, size)[:size])
			}
			from, to, link := original, filepath.Join(t.TempDir(), "to"), filepath.Join(t.TempDir(), "link")
			if mode != Symlink && must.Symlink(from, link) == nil {
				from = link
			}
			used, reason, err := Tree(t.Context(), from, to, []Mode{mode})
			if mode == Clone && err != nil {
				t.Skipf("the file system can't: %v", err)
			}
			if mode == Symlink && err != nil && runtime.GOOS == "windows" {
				t.Skipf("the user may not: %v", err)
			}
			if used != mode || reason != nil || err != nil {
				t.Fatalf("got %v, %v, %v", used, reason, err)
			}
			must.Equal(t, cachetest.HashOf(t, to), cachetest.HashOf(t, original))
			if mode == Symlink {
				if target, err := os.Readlink(to); target != from {
					t.Errorf("it leads to %q, %v", target, err)
				}
				return
			}
			wantFiles(t, from, to, mode == Hardlink)
		})
	}
}

// wantFiles checks that to has ordinary files with the content and modes of from's.
func wantFiles(t *testing.T, from, to string, same bool) {
	t.Helper()
	err := filepath.WalkDir(to, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(to, path)
		want := must.Get(os.Stat(filepath.Join(from, name)))(t)
		got := must.Get(os.Lstat(path))(t)
		must.Equal(t, got.Mode(), want.Mode())
		must.Equal(t, os.SameFile(got, want), same)
		return nil
	})
	must.Succeed(t, err)
}

func TestLink_TriesOneModeAfterTheOther(t *testing.T) {
	t.Parallel()
	from, to := packageToLink(t), filepath.Join(t.TempDir(), "to")
	used, reason, err := Tree(t.Context(), from, to, []Mode{Auto, Mode(17), Copy})
	if used != Copy || err != nil {
		t.Fatalf("got %v, %v", used, err)
	}
	if !errors.Is(reason, errors.ErrUnsupported) || !strings.HasPrefix(reason.Error(), "auto: ") {
		t.Errorf("the reason is %v", reason)
	}
	wantFiles(t, from, to, false)
	for _, modes := range [][]Mode{nil, {Auto}, {Auto, Mode(17)}} {
		other := filepath.Join(t.TempDir(), "to")
		must.Refuse(Tree(t.Context(), from, other, modes))(t, modes)
	}
}

func TestLink_NothingIsLeftOfALinkThatFailed(t *testing.T) {
	t.Parallel()
	all := []Mode{Symlink, Clone, Hardlink, Copy}
	for name, from := range map[string]string{
		"absent": filepath.Join(t.TempDir(), "absent"),
		"a file": filepath.Join(packageToLink(t), cachetest.WidgetFile),
	} {
		to := filepath.Join(t.TempDir(), "to")
		must.Refuse(Tree(t.Context(), from, to, all))(t, name)
		must.Fail(t, must.ErrorOf(os.Lstat(to)), fs.ErrNotExist, name)
	}
	ctx, cancel := cachetest.ContextWithCause(t)
	cancel(cachetest.ErrStopped)
	for _, mode := range all[1:] {
		to := filepath.Join(t.TempDir(), "to")
		if _, _, err := Tree(ctx, packageToLink(t), to, []Mode{mode, Copy}); !errors.Is(err, cachetest.ErrStopped) {
			t.Errorf("%v: got %v", mode, err)
		}
		must.Fail(t, must.ErrorOf(os.Lstat(to)), fs.ErrNotExist, mode)
	}
}

// ending is a context that ends after some looks at it.
type ending struct {
	context.Context
	looks int
}

func (e *ending) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestCopyTree_StopsInTheMiddleOfAFile(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	must.Write(t, filepath.Join(from, "file"), make([]byte, 2*copyPiece))
	must.Fail(t, CopyTree(&ending{context.Background(), 3}, from, filepath.Join(t.TempDir(), "to"), false), context.Canceled)
}
