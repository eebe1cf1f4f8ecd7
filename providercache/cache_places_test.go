package providercache_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// place is what people do to working directories before init runs in one of them.
type place struct {
	does  func(t *testing.T, m *machine, d *directory) (then *directory)
	locks bool // the lock file is still there

	// How many of the two packages are read then, for each way of linking.
	hardlink, copied, strict int
}

// base is the working directory.
func (d *directory) base() string { return filepath.Dir(filepath.Dir(d.Target.Dir)) }

// at is a run in a working directory elsewhere.
func (m *machine) at(base string, mode providercache.LinkMode) *directory {
	m.tb.Helper()
	d := m.directory()
	d.Target, d.Link = storeIn(base, ".terraform", "providers"), mode
	return d
}

func removing(t *testing.T, m *machine, d *directory) *directory {
	succeed(t, os.RemoveAll(filepath.Join(d.base(), ".terraform")))
	return m.again(d)
}

// copying copies a working directory to a new one, and goes on in one of them.
func copying(mode providercache.LinkMode, inCopy bool) func(*testing.T, *machine, *directory) *directory {
	return func(t *testing.T, m *machine, d *directory) *directory {
		to := d.base() + ".copy"
		if d.Link == providercache.LinkSymlink {
			succeed(t, os.CopyFS(to, os.DirFS(d.base()))) // keeps the mtimes
		} else {
			succeed(t, must.ErrorOf(link.Tree(t.Context(), d.base(), to, []providercache.LinkMode{mode})))
		}
		if inCopy {
			return m.at(to, d.Link)
		}
		return m.again(d)
	}
}

// places are the cases of docs/trust.md. None of them requests an archive.
var places = map[string]place{
	"rm -rf .terraform": {does: removing, locks: true, strict: 2},
	"git clean -xfd":    {does: removing, strict: 2}, // and git doesn't have the lock file
	"mv": {does: func(t *testing.T, m *machine, d *directory) *directory {
		succeed(t, os.Rename(d.base(), d.base()+".moved"))
		return m.at(d.base()+".moved", d.Link)
	}, locks: true, copied: 2},
	"mv, and back": {does: func(t *testing.T, m *machine, d *directory) *directory {
		succeed(t, os.Rename(d.base(), d.base()+".moved"))
		succeed(t, os.Rename(d.base()+".moved", d.base()))
		return m.again(d)
	}, locks: true},
	"cp -al, in the copy":     {does: copying(providercache.LinkHardlink, true), locks: true, copied: 2, strict: 2},
	"cp -al, in the original": {does: copying(providercache.LinkHardlink, false), locks: true, copied: 2, strict: 2},
	"cp -a, in the copy":      {does: copying(providercache.LinkCopy, true), locks: true, hardlink: 2, copied: 2, strict: 2},
	"cp -a, in the original":  {does: copying(providercache.LinkCopy, false), locks: true},
}

// Moving, copying and restoring working directories costs a hash only
// if the files aren't those that were hashed, and only once.
func TestInstall_AfterWorkingDirectoriesWereMovedAndCopied(t *testing.T) {
	needsReceipts(t)
	for what, p := range places {
		for how, c := range map[string]struct {
			mode   providercache.LinkMode
			strict bool
			want   int
		}{
			"hard links": {providercache.LinkHardlink, false, p.hardlink}, "copies": {providercache.LinkCopy, false, p.copied},
			"hard links, strict times": {providercache.LinkHardlink, true, p.strict}, "symbolic links": {providercache.LinkSymlink, false, 0},
		} {
			if testing.Short() && how != "hard links" {
				continue
			}
			t.Run(what+", "+how, func(t *testing.T) {
				m := parallelMachine(t)
				m.Strict = c.strict
				d := m.directory()
				d.Link = c.mode
				locks, _ := m.install(d, nil)
				if d.read = nil; d.Link == providercache.LinkHardlink && !sameFileInCache(t, m, d) {
					t.Skip("there are no hard links here")
				}
				dir, _ := packageA(t, d.Target.Dir)
				if info := must.Get(os.Lstat(dir))(t); d.Link == providercache.LinkSymlink && info.IsDir() {
					t.Skip("no symbolic links here")
				}
				then := p.does(t, m, d)
				age()
				p.check(t, m, then, locks, c.want)
			})
		}
	}
}

// check installs twice: packages are read in the first run only.
func (p place) check(t *testing.T, m *machine, d *directory, locks *depsfile.Locks, want int) {
	t.Helper()
	if !p.locks {
		locks = nil
	}
	for _, want := range []int{want, 0} {
		before := m.Registry.Requests("")
		_, did := m.install(d, locks)
		must.Len(t, d.read, want)
		must.NotContain(t, did, "archive")
		must.Equal(t, locks != nil && m.Registry.Requests("") > before, false, did)
	}
}

// sameFileInCache reports whether a package in a target consists of hard links to the cache's
// files.
func sameFileInCache(t *testing.T, m *machine, d *directory) bool {
	t.Helper()
	_, here := packageA(t, d.Target.Dir)
	_, there := packageA(t, m.Cache)
	a := must.Get(os.Lstat(here))(t)
	b := must.Get(os.Lstat(there))(t)
	return os.SameFile(a, b)
}
