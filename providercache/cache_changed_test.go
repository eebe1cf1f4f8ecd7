package providercache_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// A change changes a package in its directory without renewing its receipt. File is its executable,
// and content is what the executable gets: other bytes of the same length, or the same bytes again.
type change func(t *testing.T, dir, file, content string)

// keepingTimes changes a file or a directory and sets its mtime back.
func keepingTimes(t *testing.T, path string, do func()) {
	t.Helper()
	info := must.Get(os.Stat(path))(t)
	do()
	succeed(t, os.Chtimes(path, time.Time{}, info.ModTime()))
}

// restoredMtime is the change that only the ctime shows. In a cache, only strict times find it.
const restoredMtime = "content with restored mtime"

// changesBehind are changes of a package that only the file system's stat shows.
// TestCache_AnotherUsersWriteIsSeenAndRefused is about writes of other users.
var changesBehind = map[string]change{
	restoredMtime: func(t *testing.T, _, file, content string) {
		keepingTimes(t, file, func() { write(t, file, content) })
	},
	"replaced inode": func(t *testing.T, dir, file, content string) {
		keepingTimes(t, dir, func() {
			info := must.Get(os.Stat(file))(t)
			succeed(t, errors.Join(os.WriteFile(file+".x", []byte(content), info.Mode()), os.Chmod(file+".x", info.Mode())))
			succeed(t, errors.Join(os.Chtimes(file+".x", time.Time{}, info.ModTime()), os.Rename(file+".x", file)))
		})
	},
	"added file": func(t *testing.T, dir, file, content string) {
		keepingTimes(t, dir, func() {
			write(t, filepath.Join(dir, "more"), "")
			if content == read(t, file) { // the file with the content that it is to have
				succeed(t, os.Remove(filepath.Join(dir, "more")))
			}
		})
	},
	"renamed directory": func(t *testing.T, dir, file, content string) {
		succeed(t, os.Rename(dir, dir+".x"))
		if content != read(t, filepath.Join(dir+".x", filepath.Base(file))) {
			succeed(t, os.CopyFS(dir+".y", os.DirFS(dir+".x")))
			write(t, filepath.Join(dir+".y", filepath.Base(file)), content)
			succeed(t, errors.Join(os.RemoveAll(dir+".x"), os.Rename(dir+".y", dir+".x")))
		}
		succeed(t, os.Rename(dir+".x", dir))
	},
	"clock set back": func(t *testing.T, dir, file, content string) {
		if content != read(t, file) {
			write(t, file, content)
		}
	},
}

// prepared is a directory whose packages all have valid receipts,
// and the cache that they came from.
// came from.
func prepared(t *testing.T, strict bool) (m *machine, d *directory, again func(*directory) string) {
	t.Helper()
	m = newMachine(t)
	m.Strict = strict
	d = m.directory()
	d.Link = providercache.LinkCopy
	locks, _ := m.install(d, nil)
	again = func(d *directory) string {
		_, did := m.install(d, locks)
		return did
	}
	must.Equal(t, again(d), "")
	return m, d, again
}

// onlyCtimeTells reports whether the test is about the change that
// only strict times find in a cache.
// cache.
func onlyCtimeTells(t *testing.T) bool {
	return strings.HasSuffix(t.Name(), strings.ReplaceAll(restoredMtime, " ", "_"))
}

// packageA is acme/a in a directory of packages, and its executable.
func packageA(t *testing.T, root string) (dir, file string) {
	t.Helper()
	dir = filepath.Join(root, packageDir(registryHost+"/acme/a", "1.0.0"))
	return dir, only(t, filepath.Join(dir, "terraform-provider-a"))
}

// afterEachChange runs a test for each of the changes. setClock
// turns the clock of a directory back, if that is the change.
func afterEachChange(t *testing.T, test func(t *testing.T, change change, setClock func(*directory) bool)) {
	t.Helper()
	needsReceipts(t)
	for name, change := range changesBehind {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, change, func(d *directory) bool {
				if name != "clock set back" {
					return false
				}
				d.Fetcher.Now = func() time.Time { return time.Now().Add(-time.Hour) }
				return true
			})
		})
	}
}

func TestCache_AChangeInTheCacheIsFoundAndRefused(t *testing.T) {
	afterEachChange(t, func(t *testing.T, change change, setClock func(*directory) bool) {
		m, d, again := prepared(t, onlyCtimeTells(t))
		sound := treeOf(t, d.Target.Dir)
		dir, file := packageA(t, m.Cache)
		change(t, dir, file, strings.Repeat("x", len(read(t, file))))
		fresh := m.directory()
		setClock(fresh)
		must.Contain(t, again(fresh), "archive 1")
		must.Contain(t, strings.Join(fresh.read, " "), dir)
		for _, root := range []string{fresh.Target.Dir, m.Cache} {
			must.Equal(t, treeOf(t, root), sound, root)
		}
	})
}

func TestCache_AChangeInADirectoryIsFoundAndRefused(t *testing.T) {
	afterEachChange(t, func(t *testing.T, change change, setClock func(*directory) bool) {
		m, d, again := prepared(t, false)
		sound, asked := treeOf(t, d.Target.Dir), m.Registry.Requests("")
		dir, file := packageA(t, d.Target.Dir)
		change(t, dir, file, strings.Repeat("x", len(read(t, file))))
		setClock(d)
		again(d)
		must.Equal(t, d.linked, 1)
		must.Equal(t, m.Registry.Requests(""), asked)
		must.Contain(t, strings.Join(d.read, " "), dir)
		succeed(t, os.RemoveAll(filepath.Join(filepath.Dir(dir), "moved-aside_"+filepath.Base(dir)))) // where an added file is kept
		must.Equal(t, treeOf(t, d.Target.Dir), sound)
	})
}

// A package that only looks changed is hashed, and used.
func TestReceipt_IsRenewedAfterASeemingChange(t *testing.T) {
	afterEachChange(t, func(t *testing.T, change change, setClock func(*directory) bool) {
		m, _, again := prepared(t, onlyCtimeTells(t))
		dir, file := packageA(t, m.Cache)
		change(t, dir, file, read(t, file))
		age()
		for i, want := range []string{"linked 2, read 1", "linked 2"} {
			fresh := m.directory()
			fresh.Link = providercache.LinkCopy
			if i == 0 && setClock(fresh) {
				want = "linked 2, read 4" // the clock is set back for the other package, too, and allows no receipt
			}
			must.Equal(t, again(fresh), want, i)
		}
	})
}

// When a run has found moved ctimes, the receipt records the new ones, and counts with strict
// times, too.
func TestReceipt_IsRenewedWhenItsCtimesMoved(t *testing.T) {
	needsReceipts(t)
	m := newMachine(t)
	first, second := m.directory(), m.directory()
	first.Link, second.Link = providercache.LinkHardlink, providercache.LinkHardlink
	locks, _ := m.install(first, nil)
	if m.install(second, locks); !slices.Equal(second.modes, []providercache.LinkMode{providercache.LinkHardlink, providercache.LinkHardlink}) {
		t.Skipf("there are no hard links here, but %v", second.modes)
	}
	succeed(t, os.RemoveAll(first.Target.Dir))
	age()
	m.install(second, locks)
	second.Fetcher.StrictTimes = true
	if m.install(second, locks); len(second.read) > 0 {
		t.Errorf("read %q", second.read)
	}
}
