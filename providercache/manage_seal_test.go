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
	"github.com/tfdeps/tfdeps/providercache/internal/cachetest"
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
	if !rootsWithParents(above) {
		t.Skipf("%s is not root's alone", filepath.Dir(above))
	}
	return above
}

// sealedAt fills and seals a cache below base, and returns it with what is in
// base: modes, times, contents.
func sealedAt(t *testing.T, base string, mode fs.FileMode) (*Store, map[string]string) {
	t.Helper()
	cache, err := OpenCache(filepath.Join(base, "providers", "v1"), false)
	cachetest.Must(t, err)
	dir := filepath.Join(cache.Dir, filepath.FromSlash(packageName))
	cachetest.WriteTo(t, filepath.Join(dir, cachetest.WidgetFile), "the provider")
	cachetest.Must(t, os.Chmod(filepath.Join(dir, cachetest.WidgetFile), mode), os.Chmod(cache.Dir, 0o700))
	unlock, err := cache.lockPackage(t.Context(), packageName)
	cachetest.Must(t, err)
	unlock()
	h1, err := getproviders.HashDir(t.Context(), dir)
	cachetest.Must(t, err)
	p, _ := parseUnpacked(packageName)
	filled := Filled{Selection: Selection{Provider: p.Provider, Version: p.Version}, Platform: p.Platform, got: genuine{H1: h1}}
	receipts, err := cache.Seal(t.Context(), []Filled{filled}, base, time.Unix(1e9, 5))
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
	at := (&Upkeep{Cache: cache}).shelf()
	if known, condition := at.condition(packageName); known || condition != Unknown {
		t.Errorf("for root, who can write to it, it is %s", condition)
	}
	at.system = imageReceipts(cache.Dir, never)
	if known, condition := at.condition(packageName); !known || condition != Complete {
		t.Errorf("for others it is %s", condition)
	}
}

func TestWhatSomebodyWorksOnStays(t *testing.T) {
	t.Parallel()
	cache, err := OpenCache(t.TempDir(), false)
	cachetest.Must(t, err)
	cachetest.WriteTo(t, filepath.Join(cache.Dir, filepath.FromSlash(packageName), cachetest.WidgetFile), "the provider")
	if _, err := filelock.Try(filepath.Join(cache.Dir, "probe"), lockMode); err != nil {
		t.Skipf("no locks here: %v", err)
	}
	unlock, err := cache.lockPackage(t.Context(), packageName)
	cachetest.Must(t, err)
	u := &Upkeep{Cache: cache}
	packages, err := u.List()
	cachetest.Must(t, err)
	done, err := u.Remove(t.Context(), packages, RemoveOptions{})
	if err != nil || len(done.Removed) > 0 || len(done.Kept) != 1 || !errors.Is(done.Kept[0].Why, ErrInUse) {
		t.Errorf("while it is locked: %+v, %v", done, err)
	}
	unlock()
	done, err = u.Remove(t.Context(), packages, RemoveOptions{})
	if err != nil || len(done.Removed) != 1 {
		t.Errorf("then: %+v, %v", done, err)
	}
}

func TestAPromisedLinkKeepsItsPackage(t *testing.T) {
	t.Parallel()
	cache, err := OpenCache(t.TempDir(), true)
	cachetest.Must(t, err)
	state, target := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), ".terraform", "providers")
	p, _ := parseUnpacked(packageName)
	in := &Installer{
		Fetcher: &Fetcher{StateDir: state, Platform: p.Platform},
		Cache:   cache, Target: &Store{Dir: target},
	}
	plan := Plan{Link: []Selection{{Provider: p.Provider, Version: p.Version}}}
	in.noteUses(t.Context(), plan)
	u := &Upkeep{Cache: cache, StateDir: state}
	for _, c := range []struct {
		later time.Duration
		want  bool
	}{{0, true}, {2 * underWay, false}} {
		u.Now = func() time.Time { return time.Now().Add(c.later) }
		using := u.uses()
		if len(using.byDir) == 0 {
			t.Skip("no state is kept here")
		}
		if got := using.needs(packageName, filepath.Join(using.root, filepath.FromSlash(packageName))); got != c.want {
			t.Errorf("%v later: %t", c.later, got)
		}
	}
}

func FuzzParseUnpacked(f *testing.F) {
	for _, name := range []string{packageName, "", "a/b/c/d/e", "registry.example.com/acme/widget/1.0.0/linux_amd64/", "h:443/n/t/1.0.0-rc1+b/a_b", "é.example/n/t/1.0.0/a_b"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if p, ok := parseUnpacked(name); ok && p.name() != name {
			t.Errorf("%q became %q", name, p.name())
		}
	})
}

func TestALinkThatIsMadeMeanwhileBringsItsPackageBack(t *testing.T) {
	t.Parallel()
	cache, err := OpenCache(t.TempDir(), true)
	cachetest.Must(t, err)
	dir := filepath.Join(cache.Dir, filepath.FromSlash(packageName))
	cachetest.WriteTo(t, filepath.Join(dir, cachetest.WidgetFile), "the provider")
	u := &Upkeep{Cache: cache, StateDir: filepath.Join(t.TempDir(), "state")}
	p, _ := parseUnpacked(packageName)
	p.Dir = dir
	taken, why := u.takeOut(p, RemoveOptions{Others: true})
	cachetest.Must(t, why)
	if _, err := os.Stat(dir); err == nil {
		t.Error("it is in its place")
	}
	in := &Installer{
		Fetcher: &Fetcher{StateDir: u.StateDir, Platform: p.Platform},
		Cache:   cache, Target: &Store{Dir: filepath.Join(t.TempDir(), "providers")},
	}
	s := Selection{Provider: p.Provider, Version: p.Version}
	if in.isCached(s) == nil {
		t.Error("a link to it would be used")
	}
	in.noteUses(t.Context(), Plan{Link: []Selection{s}})
	if len(u.uses().byDir) == 0 {
		taken.end()
		t.Skip("no state is kept here")
	}
	var done Removal
	if rest := u.putBackLinked([]*takenOut{taken}, RemoveOptions{}, &done); len(rest) > 0 || len(done.Kept) != 1 {
		t.Errorf("it goes: %v, %+v", rest, done)
	}
	cachetest.Must(t, in.isCached(s))
}
