package providercache_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// handmade are packages that no parser returns, with addresses, versions and platforms made by hand.
func handmade() (all []getproviders.Candidate) {
	const outside = "/../../../../../outside"
	good := provider(widgetAddress)
	for _, p := range []getproviders.Provider{
		{Hostname: registryHost, Namespace: "../../..", Type: "widget"},
		{Hostname: registryHost, Namespace: "..", Type: ".."},
		{Hostname: "..", Namespace: "acme", Type: "widget"},
		{Hostname: "../../registry.example.com", Namespace: "acme", Type: "widget"},
		{Hostname: registryHost, Namespace: "acme", Type: "../../../../widget"},
		{Hostname: registryHost, Namespace: "acme", Type: "Widget"},
		{},
	} {
		all = append(all, getproviders.Candidate{Provider: p, Version: v1, Platform: linux})
	}
	for _, v := range []getproviders.Version{{Major: 1, Prerelease: outside}, {Major: 1, Metadata: outside}, {Major: 1, Prerelease: `a\b`}, {Major: 1, Prerelease: "\x00"}} {
		all = append(all, getproviders.Candidate{Provider: good, Version: v, Platform: linux})
	}
	return append(all, getproviders.Candidate{Provider: good, Version: v1, Platform: getproviders.Platform{OS: "../../../../../../outside", Arch: "x"}})
}

// TestInstall_LeavesItsDirectoriesForNoAddress: invalid values are errors, whatever the
// source says of them, and nothing is written outside of Target and Cache.
func TestInstall_LeavesItsDirectoriesForNoAddress(t *testing.T) {
	t.Parallel()
	for _, c := range handmade() {
		p, v := c.Provider, c.Version
		source := newWidgetSource(t)
		pkg := source.Packages[acmeWidget][v1]
		pkg.Provider, pkg.Version = p, v
		source.Packages[p] = map[getproviders.Version]getproviders.Package{v: pkg}
		root := t.TempDir()
		const deep = "deep/a/b/c/d/e/"
		in := newInstaller(t, source)
		in.Fetcher.Platform = c.Platform
		in.Target, in.Cache = storeIn(root, deep+"target"), storeIn(root, deep+"cache")
		spec := getproviders.PackageSpec{Provider: p, Version: v}
		locks := new(depsfile.Locks)
		locks.Set(depsfile.Lock{Provider: p, Version: v, Hashes: []getproviders.Hash{"h1:x"}})
		must.Refuse(in.Ensure(t.Context(), p, constraints("")))(t, c)
		must.Refuse(in.Prefetch(t.Context(), []getproviders.PackageSpec{spec}))(t, c)
		must.Refuse(in.Fetcher.Hashes(t.Context(), p, v, []getproviders.Platform{c.Platform}))(t, c)
		must.Refuse(attempt(t, in, getproviders.Requirements{p: nil}, locks))(t, c)
		must.Refuse(mirror.Update(t.Context(), in.Fetcher, mirror.Directory(in.Target.Dir), []mirror.Spec{{PackageSpec: spec}}, mirror.Options{}))(t, c)
		must.Equal(t, source.MetadataAsked, 0, c)
		for _, name := range tree(t, root) {
			must.Equal(t, strings.HasPrefix(deep, name+"/") || strings.HasPrefix(name, deep), true, name, c)
		}
		must.Equal(t, filepath.IsLocal(in.Target.PackagePath(p, v, c.Platform)[len(in.Target.Dir)+1:]), true, c)
	}
}
