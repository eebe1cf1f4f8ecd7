package providercache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/filelock"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/cachetest"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/receipttest"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// imagePlace is a directory that is root's alone, as in a build of an image.
func imagePlace(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 || runtime.GOOS == "windows" {
		t.Skip("only root can make what is root's alone")
	}
	above, err := os.MkdirTemp("/var/lib", "tfdeps-test-")
	if err != nil {
		t.Skipf("no place for it: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(above) })
	if !receipt.RootsWithParents(above) {
		t.Skipf("%s is not root's alone", filepath.Dir(above))
	}
	return above
}

// sealedAt fills and seals a cache below base, and returns it with what is in
// base: modes, times, contents.
func sealedAt(t *testing.T, base string, mode fs.FileMode) (*store.Store, map[string]string) {
	t.Helper()
	cache, err := store.OpenCache(filepath.Join(base, "providers", "v1"), false)
	cachetest.Must(t, err)
	dir := filepath.Join(cache.Dir, filepath.FromSlash(receipttest.Name))
	cachetest.WriteTo(t, filepath.Join(dir, cachetest.WidgetFile), "the provider")
	cachetest.Must(t, os.Chmod(filepath.Join(dir, cachetest.WidgetFile), mode), os.Chmod(cache.Dir, 0o700))
	unlock, err := cache.LockPackage(t.Context(), receipttest.Name)
	cachetest.Must(t, err)
	unlock()
	h1, err := getproviders.HashDir(t.Context(), dir)
	cachetest.Must(t, err)
	p, _ := store.ParseName(receipttest.Name)
	filled := Prefetched{Selection: resolve.Selection{Provider: p.Provider, Version: p.Version}, Platform: p.Platform, provenance: receipt.Provenance{H1: h1}}
	receipts, err := Finalize(t.Context(), cache, []Prefetched{filled}, base, time.Unix(1e9, 5))
	if err != nil || !receipts {
		t.Fatalf("sealed: %t, %v", receipts, err)
	}
	content := map[string]string{}
	cachetest.Must(t, filepath.WalkDir(base, func(path string, entry fs.DirEntry, err error) error {
		info, infoErr := os.Lstat(path)
		cachetest.Must(t, err, infoErr)
		name, err := filepath.Rel(base, path)
		content[name] = info.Mode().String() + " " + info.ModTime().UTC().String()
		if !info.IsDir() {
			content[name] += cachetest.ContentOf(t, path)
		}
		return err
	}))
	return cache, content
}

func TestASealedCacheIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	place := imagePlace(t)
	_, first := sealedAt(t, filepath.Join(place, "first"), 0o700)
	time.Sleep(20 * time.Millisecond)
	_, second := sealedAt(t, filepath.Join(place, "second"), 0o755)
	for name, content := range first {
		if second[name] != content {
			t.Errorf("%s: %q, then %q", name, content, second[name])
		}
	}
	if len(first) != len(second) || len(first) != 11 {
		t.Errorf("%d names, then %d", len(first), len(second))
	}
}

func TestASealedCacheIsKnownByItsReceipts(t *testing.T) {
	t.Parallel()
	cache, _ := sealedAt(t, filepath.Join(imagePlace(t), "base"), 0o755)
	at := (&store.Maintenance{Cache: cache}).View()
	if known, condition := at.Condition(receipttest.Name); known || condition != store.ConditionUnknown {
		t.Errorf("for root, who can write to it, it is %s", condition)
	}
	at.System = receipt.ImageReceipts(cache.Dir, func(string) bool { return false })
	if known, condition := at.Condition(receipttest.Name); !known || condition != store.ConditionComplete {
		t.Errorf("for others it is %s", condition)
	}
}

func TestWhatSomebodyWorksOnStays(t *testing.T) {
	t.Parallel()
	cache, err := store.OpenCache(t.TempDir(), false)
	cachetest.Must(t, err)
	cachetest.WriteTo(t, filepath.Join(cache.Dir, filepath.FromSlash(receipttest.Name), cachetest.WidgetFile), "the provider")
	if _, err := filelock.Try(filepath.Join(cache.Dir, "probe"), store.LockMode); err != nil {
		t.Skipf("no locks here: %v", err)
	}
	unlock, err := cache.LockPackage(t.Context(), receipttest.Name)
	cachetest.Must(t, err)
	u := &store.Maintenance{Cache: cache}
	packages, err := u.List()
	cachetest.Must(t, err)
	done, err := u.Remove(t.Context(), packages, store.RemoveOptions{})
	if err != nil || len(done.Removed) > 0 || len(done.Kept) != 1 || !errors.Is(done.Kept[0].Why, store.ErrInUse) {
		t.Errorf("while it is locked: %+v, %v", done, err)
	}
	unlock()
	done, err = u.Remove(t.Context(), packages, store.RemoveOptions{})
	if err != nil || len(done.Removed) != 1 {
		t.Errorf("then: %+v, %v", done, err)
	}
}

func TestAPromisedLinkKeepsItsPackage(t *testing.T) {
	t.Parallel()
	cache, err := store.OpenCache(t.TempDir(), true)
	cachetest.Must(t, err)
	state, target := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), ".terraform", "providers")
	p, _ := store.ParseName(receipttest.Name)
	in := &Installer{
		Fetcher: &fetcher.Fetcher{StateDir: state, Platform: p.Platform},
		Cache:   cache, Target: &store.Store{Dir: target},
	}
	used := store.Uses{State: state, Target: target, Due: in.packageNames([]resolve.Selection{{Provider: p.Provider, Version: p.Version}}), Link: true}
	cache.NoteUses(t.Context(), used, time.Now())
	u := &store.Maintenance{Cache: cache, StateDir: state}
	for _, c := range []struct {
		later time.Duration
		want  bool
	}{{0, true}, {2 * store.UnderWay, false}} {
		u.Now = func() time.Time { return time.Now().Add(c.later) }
		using := u.Uses()
		if len(using.ByDir) == 0 {
			t.Skip("no state is kept here")
		}
		if got := using.Needs(receipttest.Name, filepath.Join(using.Root, filepath.FromSlash(receipttest.Name))); got != c.want {
			t.Errorf("%v later: %t", c.later, got)
		}
	}
}

func FuzzParseUnpacked(f *testing.F) {
	for _, name := range []string{receipttest.Name, "", "a/b/c/d/e", "registry.example.com/acme/widget/1.0.0/linux_amd64/", "h:443/n/t/1.0.0-rc1+b/a_b", "é.example/n/t/1.0.0/a_b"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if p, ok := store.ParseName(name); ok && p.Name() != name {
			t.Errorf("%q became %q", name, p.Name())
		}
	})
}

func TestALinkThatIsMadeMeanwhileBringsItsPackageBack(t *testing.T) {
	t.Parallel()
	cache, err := store.OpenCache(t.TempDir(), true)
	cachetest.Must(t, err)
	dir := filepath.Join(cache.Dir, filepath.FromSlash(receipttest.Name))
	cachetest.WriteTo(t, filepath.Join(dir, cachetest.WidgetFile), "the provider")
	u := &store.Maintenance{Cache: cache, StateDir: filepath.Join(t.TempDir(), "state")}
	p, _ := store.ParseName(receipttest.Name)
	p.Dir = dir
	taken, why := u.TakeOut(p, store.RemoveOptions{Others: true})
	cachetest.Must(t, why)
	if _, err := os.Stat(dir); err == nil {
		t.Error("it is in its place")
	}
	in := &Installer{
		Fetcher: &fetcher.Fetcher{StateDir: u.StateDir, Platform: p.Platform},
		Cache:   cache, Target: &store.Store{Dir: filepath.Join(t.TempDir(), "providers")},
	}
	s := resolve.Selection{Provider: p.Provider, Version: p.Version}
	if in.cacheHas(s) == nil {
		t.Error("a link to it would be used")
	}
	cache.NoteUses(t.Context(), store.Uses{State: u.StateDir, Target: in.Target.Dir, Due: in.packageNames([]resolve.Selection{s}), Link: true}, time.Now())
	if len(u.Uses().ByDir) == 0 {
		taken.End()
		t.Skip("no state is kept here")
	}
	var done store.Removal
	if rest := u.PutBackLinked([]*store.Detached{taken}, store.RemoveOptions{}, &done); len(rest) > 0 || len(done.Kept) != 1 {
		t.Errorf("it goes: %v, %+v", rest, done)
	}
	cachetest.Must(t, in.cacheHas(s))
}
