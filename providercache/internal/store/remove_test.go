package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/receipttest"
)

func TestMaintenance_KeepsWhatIsLockedOrBehindALink(t *testing.T) {
	t.Parallel()
	cache := must.Get(OpenCache(t.TempDir(), false))(t)
	u := &Maintenance{Cache: cache, Now: time.Now}
	// A user who can write to a shared cache could make another user's gc remove packages outside of it.
	t.Run("link", func(t *testing.T) {
		elsewhere := t.TempDir()
		host, below, _ := strings.Cut(receipttest.Name, "/")
		precious, link := filepath.Join(elsewhere, below, cachetest.WidgetFile), filepath.Join(cache.Dir, host)
		cachetest.WriteTo(t, precious, "the provider of others")
		cachetest.LinkOrSkip(t, elsewhere, link)
		done := must.Get(u.Remove(t.Context(), must.Get(u.List())(t), RemoveOptions{}))(t)
		must.Len(t, done.Removed, 0)
		must.Len(t, done.Kept, 1)
		cachetest.ContentOf(t, precious)
		must.Succeed(t, os.Remove(link))
	})
	cachetest.WriteTo(t, filepath.Join(cache.Dir, receipttest.Name, cachetest.WidgetFile), "the provider")
	probe, err := filelock.Try(filepath.Join(cache.Dir, "probe"))
	if err != nil {
		t.Skipf("no locks here: %v", err)
	}
	must.Succeed(t, probe.Close())
	unlock := must.Get(LockPackage(t.Context(), cache, receipttest.Name))(t)
	packages := must.Get(u.List())(t)
	done := must.Get(u.Remove(t.Context(), packages, RemoveOptions{}))(t)
	must.Len(t, done.Removed, 0)
	must.Len(t, done.Kept, 1)
	must.Fail(t, done.Kept[0].Why, ErrInUse)
	unlock()
	must.Len(t, must.Get(u.Remove(t.Context(), packages, RemoveOptions{}))(t).Removed, 1)
}

func TestMaintenance_RestoresAPackageThatWasLinkedMeanwhile(t *testing.T) {
	t.Parallel()
	cache := must.Get(OpenCache(t.TempDir(), true))(t)
	dir := filepath.Join(cache.Dir, receipttest.Name)
	cachetest.WriteTo(t, filepath.Join(dir, cachetest.WidgetFile), "the provider")
	u := &Maintenance{Cache: cache, StateDir: filepath.Join(t.TempDir(), "state"), Now: time.Now}
	p, _ := ParseName(receipttest.Name)
	p.Dir = dir
	taken, why := u.detach(p, RemoveOptions{Others: true})
	must.Succeed(t, why)
	must.Refuse(os.Stat(dir))(t, "it is in its place")
	NoteUses(t.Context(), cache, Uses{State: u.StateDir, Target: ViewTarget(&Store{Dir: filepath.Join(t.TempDir(), "providers")}, u.StateDir, u.Now, false), Due: []string{p.Name()}, Link: true}, time.Now())
	if len(u.uses().byDir) == 0 {
		taken.end()
		t.Skip("no state is kept here")
	}
	var done Removal
	must.Len(t, u.restoreLinked([]*detached{taken}, RemoveOptions{}, &done), 0)
	must.Len(t, done.Kept, 1)
	must.Get(os.Stat(dir))(t)
	u.Now = func() time.Time { return time.Now().Add(2 * linkPending) }
	using := u.uses()
	must.Equal(t, using.needs(p.Name(), filepath.Join(using.root, p.Name())), false) // the link was never made
}

func FuzzParseName(f *testing.F) {
	for _, name := range []string{receipttest.Name, "", "a/b/c/d/e", "registry.example.com/acme/widget/1.0.0/linux_amd64/", "h:443/n/t/1.0.0-rc1+b/a_b", "é.example/n/t/1.0.0/a_b"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if p, ok := ParseName(name); ok && p.Name() != name {
			t.Errorf("%q became %q", name, p.Name())
		}
	})
}
