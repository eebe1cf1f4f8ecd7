package lockhashes_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/providercache/internal/lockhashes"
)

func TestLock_WorksOnAllProvidersAndPlatformsAtOnce(t *testing.T) {
	_, in := lockableRegistry(t, "widget", "gadget")
	in.Fetcher.Source = installtest.Meeting(in.Fetcher.Source, 0, 6)
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
