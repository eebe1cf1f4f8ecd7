package providercache_test

import (
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
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
