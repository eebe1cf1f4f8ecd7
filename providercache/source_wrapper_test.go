package providercache_test

import (
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
)

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
		in.Fetcher.StateDir = t.TempDir()
		for _, want := range []int{5, 1} { // versions, package, list, signature, archive
			in.Fetcher.Source = wrap(registrySource(registry)) // it remembers nothing
			in.Fetcher = installtest.Again(in.Fetcher)
			before := registry.Requests("")
			must.Get(in.Ensure(t.Context(), provider(widgetAddress), constraints("")))(t)
			must.Equal(t, registry.Requests("")-before, want)
		}
	}
}

func TestSource_AWrapperListsPlatforms(t *testing.T) {
	t.Parallel()
	registry, in := newRegistry(t)
	for _, plat := range []getproviders.Platform{linux, {OS: "plan9", Arch: "386"}} {
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: plat})
	}
	in.Fetcher.Source = wrapper{in.Fetcher.Source}
	result := installtest.First(in.Fetcher.Lock(t.Context(), providercache.LockRequest{
		Requirements: require(widgetAddress, ""), AllPlatforms: true,
	}))
	if result.Err != nil || len(result.Packages) != 2 {
		t.Errorf("got %+v", result)
	}
}

func TestSource_AWrapperTellsWhoWasNotAsked(t *testing.T) {
	t.Parallel()
	offline := getproviders.Offline(wrapper{&getproviders.RegistrySource{}}, "-offline", func(getproviders.Provider) []getproviders.CachedPackage { return nil })
	p := provider("registry.example.com/acme/widget")
	for _, source := range []getproviders.Source{
		wrapper{offline},
		getproviders.MultiSource{Selectors: []getproviders.Selector{{Source: wrapper{offline}}}},
		wrapper{getproviders.MultiSource{Selectors: []getproviders.Selector{{Source: wrapper{offline}}}}},
	} {
		if unasked := source.Describe(p).Unasked; len(unasked) != 1 || unasked[0].By != "-offline" {
			t.Errorf("%T: %v", source, unasked)
		}
	}
}
