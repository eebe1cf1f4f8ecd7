package providercache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders/par"
)

func TestLinkModesHaveNames(t *testing.T) {
	t.Parallel()
	for mode, name := range map[LinkMode]string{
		LinkAuto: "auto", LinkSymlink: "symlink", LinkClone: "clone", LinkHardlink: "hardlink", LinkCopy: "copy",
	} {
		if got, err := ParseLinkMode(name); got != mode || err != nil || mode.String() != name {
			t.Errorf("%q is %v, %v", name, got, err)
		}
	}
	for _, given := range []string{"", "Copy", "reflink", "symlink "} {
		if got, err := ParseLinkMode(given); err == nil {
			t.Errorf("%q is %v", given, got)
		}
	}
	if got := LinkMode(17).String(); got != "LinkMode(17)" {
		t.Error(got)
	}
}

// packageToLink makes a package with a directory, several modes and, where
// that is possible, a link.
func packageToLink(t *testing.T) string {
	t.Helper()
	from := filepath.Join(t.TempDir(), "from")
	writeTo(t, filepath.Join(from, widgetFile), "the provider")
	writeTo(t, filepath.Join(from, "docs", ".page"), "words")
	must(t, os.Chmod(filepath.Join(from, "docs", ".page"), 0o444))
	if err := os.Symlink(filepath.Join("..", widgetFile), filepath.Join(from, "docs", "link")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	return from
}

func TestAPackageAppearsByEachRung(t *testing.T) {
	t.Parallel()
	for _, mode := range []LinkMode{LinkSymlink, LinkClone, LinkHardlink, LinkCopy} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			from, to := packageToLink(t), filepath.Join(t.TempDir(), "to")
			used, reason, err := materialise(t.Context(), from, to, []LinkMode{mode})
			if mode == LinkClone && err != nil {
				t.Skipf("the file system can't: %v", err)
			}
			if mode == LinkSymlink && err != nil && runtime.GOOS == "windows" {
				t.Skipf("the user may not: %v", err)
			}
			if used != mode || reason != nil || err != nil {
				t.Fatalf("got %v, %v, %v", used, reason, err)
			}
			if got, want := hashOf(t, to), hashOf(t, from); got != want {
				t.Errorf("it has %s, the original %s", got, want)
			}
			if mode == LinkSymlink {
				if target, err := os.Readlink(to); target != from {
					t.Errorf("it leads to %q, %v", target, err)
				}
				return
			}
			wantFiles(t, from, to, mode == LinkHardlink)
		})
	}
}

// wantFiles checks that to has ordinary files with the modes of from's.
func wantFiles(t *testing.T, from, to string, same bool) {
	t.Helper()
	err := filepath.WalkDir(to, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(to, path)
		want, err := os.Stat(filepath.Join(from, name))
		must(t, err)
		got, err := os.Lstat(path)
		must(t, err)
		if got.Mode() != want.Mode() || os.SameFile(got, want) != same {
			t.Errorf("%s has mode %v, want %v, and is the same file: %t", name, got.Mode(), want.Mode(), !same)
		}
		return nil
	})
	must(t, err)
}

func TestALadderIsClimbedDown(t *testing.T) {
	t.Parallel()
	from, to := packageToLink(t), filepath.Join(t.TempDir(), "to")
	used, reason, err := materialise(t.Context(), from, to, []LinkMode{LinkAuto, LinkMode(17), LinkCopy})
	if used != LinkCopy || err != nil {
		t.Fatalf("got %v, %v", used, err)
	}
	if !errors.Is(reason, errors.ErrUnsupported) || !strings.HasPrefix(reason.Error(), "auto: ") {
		t.Errorf("the reason is %v", reason)
	}
	wantFiles(t, from, to, false)
	for _, ladder := range [][]LinkMode{nil, {LinkAuto}, {LinkAuto, LinkMode(17)}} {
		other := filepath.Join(t.TempDir(), "to")
		if _, _, err := materialise(t.Context(), from, other, ladder); err == nil {
			t.Errorf("%v: no error", ladder)
		}
	}
}

func TestAnotherFileSystemIsNoObstacle(t *testing.T) {
	t.Parallel()
	from := packageToLink(t)
	elsewhere, err := os.MkdirTemp("/dev/shm", "tfdeps-test-")
	if err != nil {
		t.Skipf("no other file system is known here: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(elsewhere) })
	here, there := statOf(t, from), statOf(t, elsewhere)
	if here.Device == there.Device {
		t.Skip("it is the same file system")
	}
	to := filepath.Join(elsewhere, "to")
	used, reason, err := materialise(t.Context(), from, to, []LinkMode{LinkClone, LinkHardlink, LinkCopy})
	if used != LinkCopy || reason == nil || err != nil {
		t.Fatalf("got %v, %v, %v", used, reason, err)
	}
	if !strings.Contains(reason.Error(), "clone: ") || !strings.Contains(reason.Error(), "hardlink: ") {
		t.Errorf("the reason is %v", reason)
	}
	wantFiles(t, from, to, false)
}

func statOf(t *testing.T, path string) pathStat {
	t.Helper()
	stat, err := lstat(path)
	must(t, err)
	return stat
}

func TestNothingIsLeftOfALinkThatFailed(t *testing.T) {
	t.Parallel()
	all := []LinkMode{LinkSymlink, LinkClone, LinkHardlink, LinkCopy}
	for name, from := range map[string]string{
		"absent": filepath.Join(t.TempDir(), "absent"),
		"a file": filepath.Join(packageToLink(t), widgetFile),
	} {
		to := filepath.Join(t.TempDir(), "to")
		if used, _, err := materialise(t.Context(), from, to, all); err == nil {
			t.Errorf("%s: linked by %v", name, used)
		}
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: there is something: %v", name, err)
		}
	}
	ctx, cancel := contextWithCause(t)
	cancel(errStopped)
	for _, mode := range all[1:] {
		to := filepath.Join(t.TempDir(), "to")
		if _, _, err := materialise(ctx, packageToLink(t), to, []LinkMode{mode, LinkCopy}); !errors.Is(err, errStopped) {
			t.Errorf("%v: got %v", mode, err)
		}
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: there is something: %v", mode, err)
		}
	}
}

func TestFilesOfOthersAreNotLinkedTo(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	from, to := packageToLink(t), filepath.Join(t.TempDir(), "to")
	must(t, os.Chown(filepath.Join(from, widgetFile), 12345, -1))
	used, reason, err := materialise(t.Context(), from, to, []LinkMode{LinkHardlink, LinkCopy})
	if used != LinkCopy || !errors.Is(reason, errNotOwnFile) || err != nil {
		t.Errorf("got %v, %v, %v", used, reason, err)
	}
}

func TestLinkingDoesntTouchTheOriginal(t *testing.T) {
	t.Parallel()
	s := shelve(t)
	for _, mode := range []LinkMode{LinkSymlink, LinkClone, LinkCopy} {
		to := filepath.Join(t.TempDir(), "to")
		if used, reason, err := materialise(t.Context(), s.dir, to, []LinkMode{mode, LinkCopy}); err != nil {
			t.Errorf("%v: got %v, %v, %v", mode, used, reason, err)
		}
	}
	if !s.isGenuine() {
		t.Error("the receipt doesn't hold any more")
	}
}

func TestOneReceiptServesAllHardLinks(t *testing.T) {
	t.Parallel()
	s := shelve(t)
	var projects []string
	for range 3 {
		before, ok := openReceipts(s.state, s.root).genuine(packageName, s.dir, time.Now())
		if !ok {
			t.Fatal("the receipt doesn't hold any more")
		}
		to := filepath.Join(t.TempDir(), "to")
		if _, _, err := materialise(t.Context(), s.dir, to, []LinkMode{LinkHardlink}); err != nil {
			t.Skipf("no hard links here: %v", err)
		}
		r := openReceipts(s.state, s.root)
		r.settle(t.Context(), time.Now, published{Name: packageName, Dir: s.dir, Receipt: before, Linked: true})
		must(t, r.save(t.Context()))
		projects = append(projects, to)
	}
	r := openReceipts(s.state, s.root)
	for i, project := range projects {
		if _, ok := r.linked(packageName, project, time.Now()); !ok {
			t.Errorf("project %d is not seen to have the cache's files", i)
		}
	}
	writeTo(t, filepath.Join(projects[0], "more"), "")
	must(t, os.Remove(filepath.Join(projects[1], "LICENSE")))
	copied := filepath.Join(projects[2], "LICENSE")
	must(t, os.Rename(copied, copied+".old"), os.WriteFile(copied, []byte("free"), 0o600), os.Remove(copied+".old"))
	for i, project := range projects {
		if _, ok := r.linked(packageName, project, time.Now()); ok {
			t.Errorf("project %d has other files, and nobody sees it", i)
		}
	}
}

func TestAReceiptIsNotRenewedOverAChange(t *testing.T) {
	t.Parallel()
	s := shelve(t)
	before, _ := s.receipts.genuine(packageName, s.dir, time.Now())
	if _, _, err := materialise(t.Context(), s.dir, filepath.Join(t.TempDir(), "to"), []LinkMode{LinkHardlink}); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(s.dir, "LICENSE"), []byte("FREE"), 0o600))
	s.receipts.settle(t.Context(), time.Now, published{Name: packageName, Dir: s.dir, Receipt: before, Linked: true})
	if s.isGenuineIn(s.receipts) {
		t.Error("it was renewed")
	}
}

// TestManyMayLinkAtOnce: whoever links, the file is whole for everybody.
func TestManyMayLinkAtOnce(t *testing.T) {
	t.Parallel()
	from, to := packageToLink(t), t.TempDir()
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	_, errs := par.Map(t.Context(), len(names), names, func(ctx context.Context, name string) (LinkMode, error) {
		used, _, err := materialise(ctx, from, filepath.Join(to, name), []LinkMode{LinkClone, LinkHardlink, LinkCopy})
		return used, err
	})
	must(t, errs...)
	want := hashOf(t, from)
	if slices.ContainsFunc(names, func(name string) bool { return hashOf(t, filepath.Join(to, name)) != want }) {
		t.Error("one of them is another package")
	}
}

func TestHardLinksCountOnceOnTheDisk(t *testing.T) {
	t.Parallel()
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	writeTo(t, filepath.Join(from, widgetFile), strings.Repeat("x", 1<<16))
	writeTo(t, filepath.Join(from, "docs", "page"), strings.Repeat("y", 1<<10))
	seen := map[inode]bool{}
	logical, physical := treeSize(from, seen)
	if logical != 1<<16+1<<10 || physical < logical/2 {
		t.Errorf("%d bytes, %d on the disk", logical, physical)
	}
	if _, _, err := materialise(t.Context(), from, to, []LinkMode{LinkHardlink}); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	if again, more := treeSize(to, seen); again != logical || more != 0 {
		t.Errorf("the links have %d bytes, %d of them on the disk", again, more)
	}
	if again, all := treeSize(to, map[inode]bool{}); again != logical || all != physical {
		t.Errorf("by themselves they have %d bytes, %d on the disk; want %d, %d", again, all, logical, physical)
	}
	if logical, physical := treeSize(filepath.Join(from, "absent"), seen); logical != 0 || physical != 0 {
		t.Errorf("nothing has %d bytes, %d on the disk", logical, physical)
	}
}
