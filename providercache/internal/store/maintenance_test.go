package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// newMachine returns a machine that keeps receipts, for a parallel test.
func newMachine(t *testing.T) *installtest.Machine {
	t.Parallel()
	installtest.NeedsReceipts(t)
	return installtest.NewMachine(t)
}

func list(tb testing.TB, u *store.Maintenance) []store.Package {
	tb.Helper()
	return must.Get(u.List())(tb)
}

func TestMaintenance_TakesAMissingCacheForEmpty(t *testing.T) {
	t.Parallel()
	u := installtest.NewMachine(t).Maintenance(t)
	must.Len(t, list(t, u), 0)
	must.Len(t, must.Get(u.Verify(t.Context(), nil))(t), 0)
	must.Get(u.Collect(t.Context(), store.Policy{OlderThan: time.Hour}, store.RemoveOptions{DryRun: true}))(t)
	must.Len(t, installtest.Tree(t, u.Cache.Dir), 0)
}

func TestMaintenance_ListsOnlyPackages(t *testing.T) {
	t.Parallel()
	m := installtest.NewMachine(t)
	for _, name := range []string{
		".tfdeps-1/package/a/b/1.0.0/linux_amd64/x", "partial/abc", "host.example/acme/a/1.0.0/readme",
		"host.example/acme/a/01.0.0/linux_amd64/x", "host.example/acme/a/1.0.0/linux/x", "upper.example/ACME/a/1.0.0/linux_amd64/x",
	} {
		write(t, filepath.Join(m.Cache, name), "")
	}
	hidden := filepath.Join(m.Cache, ".tfdeps-1")
	succeed(t, os.Chmod(hidden, 0)) // as another user's
	must.Len(t, list(t, m.Maintenance(t)), 0)
	succeed(t, os.Chmod(hidden, 0o700))
}

func TestMaintenance_ListsUsersAndLastUse(t *testing.T) {
	m := newMachine(t)
	copied, linked := m.Installer(t), m.Installer(t)
	copied.Link, linked.Link = link.Copy, link.Symlink
	yesterday := time.Now().Add(-30 * time.Hour)
	copied.Fetcher.Now = func() time.Time { return yesterday }
	locks := installBoth(t, copied, nil)
	u := m.Maintenance(t)
	for range 2 { // the second time by receipts and by what is noted of the cache
		a := list(t, u)[0]
		must.EqualSlices(t, a.Users, []string{resolvedPath(t, copied.Target.Dir)})
		must.Len(t, a.Linked, 0)
		must.Equal(t, a.LastUse.Sub(yesterday).Abs() < 2*time.Second, true, a.LastUse)
		succeed(t, os.RemoveAll(filepath.Join(m.State, "uses")))
	}
	installBoth(t, linked, locks)
	a := list(t, u)[0]
	must.Len(t, a.Users, 2)
	if cachetest.HasLinks(t) {
		must.EqualSlices(t, a.Linked, []string{resolvedPath(t, linked.Target.Dir)})
	}
	if time.Since(a.LastUse) > time.Hour || a.Size == 0 || !a.Managed || a.Condition != store.ConditionComplete {
		t.Errorf("listed as %+v", a)
	}
	succeed(t, errors.Join(os.RemoveAll(copied.Target.Dir), os.RemoveAll(linked.Target.Dir)))
	a = list(t, u)[0]
	must.Equal(t, len(a.Users)+len(a.Linked), 0, "they are gone")
}

func resolvedPath(tb testing.TB, path string) string {
	tb.Helper()
	return must.Get(filepath.EvalSymlinks(path))(tb)
}

// Terragrunt prepares hundreds of directories, one after the other.
func TestNoteUses_NotesAUseOnceADayAndThatOfACacheOnceAnHour(t *testing.T) {
	t.Parallel()
	for file, c := range map[string]struct{ early, late time.Duration }{
		"uses": {23 * time.Hour, 25 * time.Hour}, "last-uses": {30 * time.Minute, 90 * time.Minute},
	} {
		t.Run(file, func(t *testing.T) {
			m := newMachine(t)
			d := m.Installer(t)
			locks := installBoth(t, d, nil)
			installBoth(t, d, locks)
			noted := func(later time.Duration) string {
				now := time.Now().Add(later)
				if file == "last-uses" { // which a directory with nothing to do leaves alone
					d = m.Installer(t)
				}
				d.Fetcher.Now = func() time.Time { return now }
				d.Fetcher = installtest.Again(d.Fetcher)
				installBoth(t, d, locks)
				return strings.Join(contents(t, filepath.Join(m.State, file)), "\n")
			}
			before := noted(0)
			must.Equal(t, noted(c.early), before)
			must.Equal(t, noted(c.late) == before, false)
		})
	}
}

// Every use of a package is noted whenever it is put into a
// target: a removal waits for links that are about to be made.
func TestNoteUses_NotesEachTimeWhatIsPutThere(t *testing.T) {
	m := newMachine(t)
	cache := m.Maintenance(t).Cache
	uses := store.Uses{State: m.State, Target: store.ViewTarget(&store.Store{Dir: t.TempDir()}, m.State, time.Now, false), Due: []string{"due"}}
	now := time.Now()
	for _, at := range []time.Time{now.Add(-time.Hour), now} {
		store.NoteUses(t.Context(), cache, uses, at)
	}
	must.Contain(t, strings.Join(contents(t, filepath.Join(m.State, "uses")), ""), "due\t"+now.UTC().Format(time.RFC3339))
}

// contents reads the files of a directory.
func contents(tb testing.TB, dir string) (all []string) {
	tb.Helper()
	for _, name := range installtest.Files(tb, dir) {
		all = append(all, installtest.Read(tb, filepath.Join(dir, name)))
	}
	return all
}

func TestVerify_FindsPackagesThatDifferFromTheirReceipts(t *testing.T) {
	m := newMachine(t)
	installBoth(t, m.Installer(t), nil)
	u := m.Maintenance(t)
	all := list(t, u)
	write(t, filepath.Join(all[0].Dir, "more"), "")
	succeed(t, errors.Join(os.RemoveAll(all[1].Dir), os.Mkdir(all[1].Dir, 0o755)))
	found := must.Get(u.Verify(t.Context(), nil))(t)
	for _, v := range found {
		must.Equal(t, v.Finding, store.Corrupt)
		must.Equal(t, v.Differs(), true)
	}
	ctx, cancel := cachetest.ContextWithCause(t)
	cancel(cachetest.ErrStopped)
	must.Fail(t, must.ErrorOf(u.Remove(ctx, all, store.RemoveOptions{Others: true})), cachetest.ErrStopped)
	must.Len(t, must.Get(u.Remove(t.Context(), all, store.RemoveOptions{Others: true}))(t).Removed, 2)
	must.Len(t, list(t, u), 0)
}

func TestVerify_AcceptsLockedPackagesWithoutReceipts(t *testing.T) {
	t.Parallel()
	m := installtest.NewMachine(t)
	locks := installBoth(t, m.Installer(t), nil)
	u := m.Maintenance(t)
	u.StateDir = ""
	other := locks.Clone()
	for _, lock := range locks.All() {
		lock.Hashes = []getproviders.Hash{"h1:other="}
		other.Set(lock)
	}
	for _, c := range []struct {
		locked []getproviders.PackageSpec
		want   store.Finding
	}{
		{nil, store.Unknown},
		{store.PackageSpecs(locks), store.OK},
		{store.PackageSpecs(other), store.NotLocked},
		{store.PackageSpecs(other, locks), store.OK},
		{store.PackageSpecs(new(depsfile.Locks)), store.Unknown},
	} {
		found := must.Get(u.Verify(t.Context(), c.locked))(t)
		for _, v := range found {
			must.Equal(t, v.Finding, c.want, c.locked)
		}
	}
}

func TestCollect_RemovesTheLeastRecentlyUsedFirst(t *testing.T) {
	t.Parallel()
	m := installtest.NewMachine(t)
	u := m.Maintenance(t)
	at := time.Now()
	for i, name := range []string{"b", "a", "c"} {
		dir := filepath.Join(m.Cache, installtest.PackageDir("acme/"+name, "1.0.0"))
		write(t, filepath.Join(dir, "terraform-provider-"+name), strings.Repeat("x", 10_000))
		old := at.Add(time.Duration(i-10) * 24 * time.Hour)
		succeed(t, os.Chtimes(dir, old, old))
	}
	for name, c := range map[string]struct {
		policy store.Policy
		want   []string
	}{
		"nothing asked for": {store.Policy{}, nil},
		"age":               {store.Policy{OlderThan: 9*24*time.Hour - time.Hour}, []string{"b", "a"}},
		"size":              {store.Policy{MaxBytes: size(list(t, u)[0].OnDisk)}, []string{"b", "a"}},
		"size of all":       {store.Policy{MaxBytes: size(1 << 40)}, nil},
		"what is kept":      {store.Policy{MaxBytes: size(0), Keep: locked("a")}, []string{"b", "c"}},
		"kept alone":        {store.Policy{Keep: locked("c")}, []string{"b", "a"}},
		"kept, by age":      {store.Policy{OlderThan: 9*24*time.Hour - time.Hour, Keep: locked("b")}, []string{"a"}},
	} {
		done := must.Get(u.Collect(t.Context(), c.policy, store.RemoveOptions{DryRun: true}))(t)
		var got []string
		for _, p := range done.Removed {
			got = append(got, p.Provider.Type)
		}
		must.EqualSlices(t, got, c.want, name)
	}
	must.Len(t, list(t, u), 3, "a dry run removed something")
}

func TestSweep_RemovesArchivesThatWereNotResumed(t *testing.T) {
	t.Parallel()
	m := installtest.NewMachine(t)
	old, young := filepath.Join(m.Cache, "partial", strings.Repeat("0", 64)), filepath.Join(m.Cache, "partial", strings.Repeat("1", 64))
	for _, name := range []string{old, young} {
		write(t, name, "x")
		succeed(t, os.Chmod(name, 0o600)) // a file that other users could read isn't ours
	}
	at := time.Now().Add(-25 * time.Hour)
	succeed(t, os.Chtimes(old, at, at))
	m.Maintenance(t).Sweep()
	must.Fail(t, must.ErrorOf(os.Stat(old)), os.ErrNotExist)
	must.Get(os.Stat(young))(t)
}

func size(n int64) *int64 { return &n }

func locked(name string) []getproviders.PackageSpec {
	l := new(depsfile.Locks)
	l.Set(depsfile.Lock{Provider: provider("acme/" + name), Version: getproviders.MustParseVersion("1.0.0")})
	return store.PackageSpecs(l)
}

func TestRemove_CountsSharedBytesApart(t *testing.T) {
	m := newMachine(t)
	d := m.Installer(t)
	d.Link = link.Hardlink
	installBoth(t, d, nil)
	u := m.Maintenance(t)
	done := must.Get(u.Remove(t.Context(), list(t, u), store.RemoveOptions{}))(t)
	if runtime.GOOS == "windows" { // where nobody counts links
		must.Equal(t, done.Shared, 0)
	} else if done.Freed != 0 || done.Shared == 0 || !slices.Equal(done.SharedWith, []string{resolvedPath(t, d.Target.Dir)}) {
		t.Errorf("removed: %+v", done)
	}
	must.NotContain(t, strings.Join(contents(t, filepath.Join(m.State, "last-uses")), ""), "acme")
	for _, left := range installtest.Tree(t, m.Cache) {
		must.Equal(t, strings.HasPrefix(left, ".locks") || left == "partial", true, left)
	}
}

func TestRemove_KeepsPackagesThatAreAboutToBeLinked(t *testing.T) {
	m := newMachine(t)
	m.Named = true
	locks := installBoth(t, m.Installer(t), nil)
	u := m.Maintenance(t)
	ctx, cancel := context.WithCancel(t.Context())
	var collecting sync.WaitGroup
	collecting.Go(func() {
		for ctx.Err() == nil {
			must.Equal(t, must.ErrorOf(u.Collect(t.Context(), store.Policy{MaxBytes: size(0)}, store.RemoveOptions{})), nil)
		}
	})
	for range 10 {
		d := m.Installer(t)
		installBoth(t, d, locks)
		for _, name := range []string{"a", "b"} {
			dir := filepath.Join(d.Target.Dir, installtest.PackageDir(installtest.RegistryHost+"/acme/"+name, "1.0.0"))
			must.Get(os.Stat(dir))(t)
		}
		succeed(t, os.RemoveAll(filepath.Dir(filepath.Dir(d.Target.Dir)))) // so that nothing uses the packages any more
	}
	cancel()
	collecting.Wait()
}

func TestRemove_KeepsLinkedAndUnmanagedPackages(t *testing.T) {
	m := newMachine(t)
	m.Named = true
	installBoth(t, m.Installer(t), nil)
	write(t, filepath.Join(m.Cache, installtest.PackageDir("acme/foreign", "1.0.0"), "terraform-provider-foreign"), "")
	u := m.Maintenance(t)
	done := must.Get(u.Remove(t.Context(), list(t, u), store.RemoveOptions{}))(t)
	var why error
	for _, kept := range done.Kept {
		why = errors.Join(why, kept.Why)
	}
	links := 2
	if !cachetest.HasLinks(t) {
		links = 0
	}
	if len(done.Removed) != 2-links || len(done.Kept) != 1+links || errors.Is(why, store.ErrInUse) != (links > 0) || !errors.Is(why, store.ErrUnmanaged) {
		t.Errorf("removed %v, kept because of %v", done.Removed, why)
	}
	must.Len(t, must.Get(u.Remove(t.Context(), list(t, u), store.RemoveOptions{Linked: true, Others: true}))(t).Removed, 1+links)
}
