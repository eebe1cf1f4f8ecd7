package lockhashes_test

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/providercache/internal/lockhashes"
)

// meeting is a source that answers no question for a package until a given number of them has been
// asked at once.
type meeting struct {
	getproviders.Source
	guests sync.WaitGroup
}

func (m *meeting) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	m.guests.Done()
	all := make(chan struct{})
	go func() { m.guests.Wait(); close(all) }()
	select {
	case <-all:
		return m.Source.Package(ctx, p, v, plat)
	case <-ctx.Done():
		return getproviders.Package{}, context.Cause(ctx)
	}
}

func TestLock_WorksOnAllProvidersAndPlatformsAtOnce(t *testing.T) {
	_, in := lockableRegistry(t, "widget", "gadget")
	source := &meeting{Source: in.Fetcher.Source}
	source.guests.Add(6)
	in.Fetcher.Source = source
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // so that a failing test ends
	defer cancel()
	result := installtest.First(in.Fetcher.Lock(ctx, lockhashes.Request{
		Requirements: require(widgetAddress, "", registryHost+"/acme/gadget", ""),
		Platforms:    append(slices.Clone(otherPlatforms), linux),
	}))
	if result.Err != nil || len(result.Packages) != 6 {
		t.Errorf("%d packages, %v", len(result.Packages), result.Err)
	}
}

// Not parallel: it changes the environment.
func TestLock_WritesNothing(t *testing.T) {
	registry, in := newRegistry(t)
	lockable(t, registry, "widget", "1.0.0")
	in.Target = nil
	for _, variable := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(variable, filepath.Join(t.TempDir(), "nowhere"))
	}
	result := lock(t, in, lockhashes.Request{
		Requirements: require(widgetAddress, ""), AllPlatforms: true,
	})
	if result.Err != nil || len(result.Packages) != 3 {
		t.Errorf("%d packages, %v", len(result.Packages), result.Err)
	}
}
