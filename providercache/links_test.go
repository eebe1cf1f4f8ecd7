package providercache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

func TestLinkMode_HasAName(t *testing.T) {
	t.Parallel()
	for mode, name := range map[link.Mode]string{
		link.Auto: "auto", link.Symlink: "symlink", link.Clone: "clone", link.Hardlink: "hardlink", link.Copy: "copy",
	} {
		if got, err := link.ParseMode(name); got != mode || err != nil || mode.String() != name {
			t.Errorf("%q is %v, %v", name, got, err)
		}
	}
	for _, given := range []string{"", "Copy", "reflink", "symlink "} {
		must.Refuse(link.ParseMode(given))(t, given)
	}
	must.Equal(t, link.Mode(17).String(), "LinkMode(17)")
}

// packageToLink makes a package with a directory, several modes and, where
// that is possible, a link.
func packageToLink(t *testing.T) string {
	t.Helper()
	from := filepath.Join(t.TempDir(), "from")
	cachetest.WriteTo(t, filepath.Join(from, cachetest.WidgetFile), "the provider")
	cachetest.WriteTo(t, filepath.Join(from, "docs", ".page"), "words")
	must.Succeed(t, os.Chmod(filepath.Join(from, "docs", ".page"), 0o444))
	if err := must.Symlink(filepath.Join("..", cachetest.WidgetFile), filepath.Join(from, "docs", "link")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	return from
}

func TestLink_APackageAppearsByEachMode(t *testing.T) {
	t.Parallel()
	for _, mode := range []link.Mode{link.Symlink, link.Clone, link.Hardlink, link.Copy} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			from, to := packageToLink(t), filepath.Join(t.TempDir(), "to")
			used, reason, err := link.Tree(t.Context(), from, to, []link.Mode{mode})
			if mode == link.Clone && err != nil {
				t.Skipf("the file system can't: %v", err)
			}
			if mode == link.Symlink && err != nil && runtime.GOOS == "windows" {
				t.Skipf("the user may not: %v", err)
			}
			if used != mode || reason != nil || err != nil {
				t.Fatalf("got %v, %v, %v", used, reason, err)
			}
			must.Equal(t, cachetest.HashOf(t, to), cachetest.HashOf(t, from))
			if mode == link.Symlink {
				if target, err := os.Readlink(to); target != from {
					t.Errorf("it leads to %q, %v", target, err)
				}
				return
			}
			wantFiles(t, from, to, mode == link.Hardlink)
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
	used, reason, err := link.Tree(t.Context(), from, to, []link.Mode{link.Auto, link.Mode(17), link.Copy})
	if used != link.Copy || err != nil {
		t.Fatalf("got %v, %v", used, err)
	}
	if !errors.Is(reason, errors.ErrUnsupported) || !strings.HasPrefix(reason.Error(), "auto: ") {
		t.Errorf("the reason is %v", reason)
	}
	wantFiles(t, from, to, false)
	for _, modes := range [][]link.Mode{nil, {link.Auto}, {link.Auto, link.Mode(17)}} {
		other := filepath.Join(t.TempDir(), "to")
		must.Refuse(link.Tree(t.Context(), from, other, modes))(t, modes)
	}
}

func TestLink_NothingIsLeftOfALinkThatFailed(t *testing.T) {
	t.Parallel()
	all := []link.Mode{link.Symlink, link.Clone, link.Hardlink, link.Copy}
	for name, from := range map[string]string{
		"absent": filepath.Join(t.TempDir(), "absent"),
		"a file": filepath.Join(packageToLink(t), cachetest.WidgetFile),
	} {
		to := filepath.Join(t.TempDir(), "to")
		must.Refuse(link.Tree(t.Context(), from, to, all))(t, name)
		must.Fail(t, must.ErrorOf(os.Lstat(to)), fs.ErrNotExist, name)
	}
	ctx, cancel := cachetest.ContextWithCause(t)
	cancel(cachetest.ErrStopped)
	for _, mode := range all[1:] {
		to := filepath.Join(t.TempDir(), "to")
		if _, _, err := link.Tree(ctx, packageToLink(t), to, []link.Mode{mode, link.Copy}); !errors.Is(err, cachetest.ErrStopped) {
			t.Errorf("%v: got %v", mode, err)
		}
		must.Fail(t, must.ErrorOf(os.Lstat(to)), fs.ErrNotExist, mode)
	}
}

func TestLink_HardLinksCountOnceOnTheDisk(t *testing.T) {
	t.Parallel()
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	cachetest.WriteTo(t, filepath.Join(from, "docs", "page"), strings.Repeat("x", 1<<16))
	seen := map[receipt.Inode]bool{}
	logical, physical := receipt.TreeSize(from, seen)
	must.Equal(t, logical, 1<<16)
	must.Equal(t, physical >= logical/2, true)
	if _, _, err := link.Tree(t.Context(), from, to, []link.Mode{link.Hardlink}); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	for dir, want := range map[string]int64{to: logical, to + ".absent": 0} {
		again, more := receipt.TreeSize(dir, seen)
		must.Equal(t, again, want)
		must.Equal(t, more, 0)
	}
}
