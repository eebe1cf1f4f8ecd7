package providercache_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

func TestPrefetch_FillsACacheThatNeedsNoNetwork(t *testing.T) {
	needsReceipts(t)
	m := newMachine(t)
	locks, _ := m.first()
	succeed(t, os.RemoveAll(m.Cache))
	filler := m.directory()
	filled, err := filler.Prefetch(t.Context(), providercache.PackageSpecs(locks))
	if err != nil || len(filled) != 2 || filled[0].State == event.Present || filler.begun != 2 {
		t.Fatalf("filled: %+v, %v", filled, err)
	}
	must.Len(t, tree(t, filler.Target.Dir), 0)
	again, err := m.directory().Prefetch(t.Context(), providercache.PackageSpecs(locks))
	if err != nil || again[0].State != event.Present || again[1].State != event.Present {
		t.Errorf("filled again: %+v, %v", again, err)
	}
	got, did := m.install(m.directory(), locks)
	must.Equal(t, did, "linked 2")
	must.Equal(t, encoded(got), encoded(locks))
}

func TestPrefetch_ChoosesTheNewestVersion(t *testing.T) {
	m := parallelMachine(t)
	d := m.directory()
	wanted := []getproviders.PackageSpec{
		{Provider: provider(registryHost + "/acme/a")},
		{Provider: provider(registryHost + "/acme/none")},
		{Provider: provider(registryHost + "/acme/b"), Version: version("9.0.0")},
	}
	filled, err := d.Prefetch(t.Context(), wanted)
	if err == nil || len(filled) != 3 || filled[0].Err != nil || filled[1].Err == nil || filled[2].Err == nil {
		t.Fatalf("filled: %+v, %v", filled, err)
	}
	must.Equal(t, filled[0].Selection.Version, v1)
}

func TestPrefetch_CopiesUnpackedPackagesOfAMirror(t *testing.T) {
	t.Parallel()
	mirror := t.TempDir()
	dir := filepath.Join(mirror, packageDir("acme/a", "1.0.0"))
	write(t, filepath.Join(dir, "terraform-provider-a"), "unpacked")
	m := newMachine(t)
	d := m.directory()
	d.Fetcher.Source = &getproviders.FilesystemMirrorSource{Dir: mirror}
	filled := must.Get(d.Prefetch(t.Context(), []getproviders.PackageSpec{{Provider: provider("acme/a")}}))(t)
	succeed(t, os.RemoveAll(mirror))
	want := []string{packageDir("acme/a", "1.0.0") + "/terraform-provider-a"}
	got := slices.DeleteFunc(files(t, m.Cache), func(name string) bool { return name[0] == '.' })
	if !slices.Equal(got, want) || filled[0].State == event.Present {
		t.Errorf("the cache has %q", got)
	}
}
