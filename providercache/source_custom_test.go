package providercache_test

import (
	"os"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
)

// A source that lists a package without anything to authenticate it by causes an error and no
// panic.
func TestLock_OfHashesWithoutAnAuthenticator(t *testing.T) {
	source := widgetSource(t)
	pkg := source.Packages[acmeWidget][v1]
	listed := getproviders.Hash(wrongH1)
	pkg.Trust = getproviders.Trust{ListedHashes: []getproviders.Hash{listed}, RegistryHashes: map[getproviders.Platform]getproviders.Hash{linux: listed}}
	source.Packages[acmeWidget][v1] = pkg
	in := newInstaller(t, source)
	request := providercache.LockRequest{Requirements: require("acme/widget", "")}
	if got := installtest.First(in.Fetcher.Lock(t.Context(), request)); got.Err != nil || got.Packages[0].H1 == listed {
		t.Errorf("%+v", got)
	}
	must.Equal(t, installtest.First(in.Fetcher.Locate(t.Context(), request)).Err, nil)
}

// wrapper is a source around another one, as programs write it.
type wrapper struct{ getproviders.Source }

func TestSource_AWrapperCostsAWarmEnsureNoRequest(t *testing.T) {
	needsReceipts(t)
	for _, wrap := range []func(getproviders.Source) getproviders.Source{
		func(s getproviders.Source) getproviders.Source { return s },
		func(s getproviders.Source) getproviders.Source { return wrapper{s} },
		func(s getproviders.Source) getproviders.Source { return wrapper{getproviders.Memoize(wrapper{s})} },
	} {
		registry, in := newRegistry(t, "widget")
		in.Fetcher.StateDir, in.Cache = t.TempDir(), storeIn(t.TempDir(), "cache")
		for i, want := range []int{5, 1, 1} { // versions, package, list, signature, archive
			if i == 1 { // it comes from the cache, and then it is there
				succeed(t, os.RemoveAll(in.Target.Dir))
			}
			in.Fetcher.Source = wrap(registrySource(registry)) // it remembers nothing
			in.Fetcher = installtest.Again(in.Fetcher)
			before := registry.Requests("")
			must.Len(t, must.Get(in.Ensure(t.Context(), provider(widgetAddress), constraints("")))(t).Hashes, 2)
			must.Equal(t, registry.Requests("")-before, want)
		}
	}
}

// TestProvidertest_InstallsAsItsCommentSays is the example of package providertest.
func TestProvidertest_InstallsAsItsCommentSays(t *testing.T) {
	t.Parallel()
	registry := providertest.New(t)
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0"})
	installer := &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: registry.Source(), Client: registry.Client()},
		Target:  &providercache.Store{Dir: t.TempDir()},
	}
	got, err := installer.Ensure(t.Context(), registry.Provider("acme", "widget"), getproviders.Constraints{})
	if err != nil || got.Executable == "" || registry.Requests("archive") != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}
