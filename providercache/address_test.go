package providercache_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// handmade are addresses that no parser returns.
func handmade() []getproviders.Provider {
	return []getproviders.Provider{
		{Hostname: "registry.example.com", Namespace: "../../..", Type: "widget"},
		{Hostname: "registry.example.com", Namespace: "..", Type: ".."},
		{Hostname: "..", Namespace: "acme", Type: "widget"},
		{Hostname: "../../registry.example.com", Namespace: "acme", Type: "widget"},
		{Hostname: "registry.example.com", Namespace: "acme", Type: "../../../../widget"},
		{Hostname: "registry.example.com", Namespace: "acme", Type: "Widget"},
		{},
	}
}

// TestEnsure_LeavesItsTargetForNoAddress: an address that was put together by hand and isn't valid
// is an error, whatever the source says of it, and nothing is written beside Target and Cache.
func TestEnsure_LeavesItsTargetForNoAddress(t *testing.T) {
	t.Parallel()
	for _, p := range handmade() {
		in, root := below(t, p, v1)
		must.Refuse(in.Ensure(t.Context(), p, constraints("")))(t, p)
		must.Refuse(in.Prefetch(t.Context(), []getproviders.PackageSpec{{Provider: p, Version: v1}}))(t, p)
		must.Refuse(in.Fetcher.Hashes(t.Context(), p, v1, onLinux))(t, p)
		locks := &depsfile.Locks{}
		locks.Set(depsfile.Lock{Provider: p, Version: v1, Hashes: []getproviders.Hash{"h1:x"}})
		must.Refuse(attempt(t, in, getproviders.Requirements{p: nil}, locks))(t, p)
		onlyBelow(t, root)
	}
}

func TestInstall_LeavesItsTargetForNoVersion(t *testing.T) {
	t.Parallel()
	p := provider(registryHost + "/acme/widget")
	for _, v := range []getproviders.Version{
		{Major: 1, Prerelease: "/../../../../../outside"}, {Major: 1, Metadata: "/../../../../../outside"}, {Major: 1, Prerelease: `a\b`}, {Major: 1, Prerelease: "\x00"},
	} {
		in, root := below(t, p, v)
		must.Refuse(in.Ensure(t.Context(), p, constraints("")))(t, v)
		locks := &depsfile.Locks{}
		locks.Set(depsfile.Lock{Provider: p, Version: v, Hashes: []getproviders.Hash{"h1:x"}})
		must.Refuse(attempt(t, in, getproviders.Requirements{p: nil}, locks))(t, v)
		must.Refuse(in.Prefetch(t.Context(), []getproviders.PackageSpec{{Provider: p, Version: v}}))(t, v)
		onlyBelow(t, root)
	}
}

func TestInstall_LeavesItsTargetForNoPlatform(t *testing.T) {
	t.Parallel()
	p := provider(registryHost + "/acme/widget")
	in, root := below(t, p, v1)
	in.Fetcher.Platform = getproviders.Platform{OS: "../../../../../../outside", Arch: "x"}
	must.Refuse(in.Ensure(t.Context(), p, constraints("")))(t)
	onlyBelow(t, root)
	if dir := in.Target.PackagePath(p, v1, in.Fetcher.Platform); !filepath.IsLocal(dir[len(in.Target.Dir)+1:]) {
		t.Errorf("the package would be at %s", dir)
	}
}

func TestMirror_LeavesItsDirectoryForNoAddress(t *testing.T) {
	t.Parallel()
	good := provider(registryHost + "/acme/widget")
	odd := getproviders.Version{Major: 1, Prerelease: "/../../../../../outside"}
	type wish struct {
		mirror.Spec
		plat getproviders.Platform
	}
	wishes := []wish{
		{mirror.Spec{PackageSpec: getproviders.PackageSpec{Provider: good, Version: odd}}, linux},
		{mirror.Spec{PackageSpec: getproviders.PackageSpec{Provider: good, Version: v1}}, getproviders.Platform{OS: "../../../outside", Arch: "x"}},
	}
	for _, p := range handmade() {
		wishes = append(wishes, wish{mirror.Spec{PackageSpec: getproviders.PackageSpec{Provider: p, Version: v1}}, linux})
	}
	for _, w := range wishes {
		in, root := below(t, w.Provider, w.Version)
		opts := mirror.Options{Platforms: []getproviders.Platform{w.plat}}
		must.Refuse(mirror.Update(t.Context(), in.Fetcher, mirror.Directory(in.Target.Dir), []mirror.Spec{w.Spec}, opts))(t, w)
		onlyBelow(t, root)
	}
}

// below returns an Installer whose directories are deep below root, and whose source
// has the package.
func below(t *testing.T, p getproviders.Provider, v getproviders.Version) (in *providercache.Installer, root string) {
	source := newSource(t)
	source.AddZip(t, "acme/widget", "1.0.0")
	pkg := source.Packages[acmeWidget][v1]
	pkg.Provider, pkg.Version = p, v
	source.Packages[p] = map[getproviders.Version]getproviders.Package{v: pkg}
	root = t.TempDir()
	in = newInstaller(t, source)
	in.Target = &providercache.Store{Dir: filepath.Join(root, "deep", "a", "b", "c", "d", "e", "target")}
	in.Cache = &providercache.Store{Dir: filepath.Join(root, "deep", "a", "b", "c", "d", "e", "cache")}
	return in, root
}

// onlyBelow fails the test if root has anything but the two directories and those above them.
func onlyBelow(t *testing.T, root string) {
	t.Helper()
	for dir := root; filepath.Base(dir) != "e"; {
		entries := must.Get(os.ReadDir(dir))(t)
		if len(entries) == 0 {
			return
		}
		next := map[string]string{"deep": "a", "a": "b", "b": "c", "c": "d", "d": "e"}[filepath.Base(dir)]
		if dir == root {
			next = "deep"
		}
		if len(entries) != 1 || entries[0].Name() != next {
			t.Fatalf("%s has %v", dir, entries)
		}
		dir = filepath.Join(dir, next)
	}
}
