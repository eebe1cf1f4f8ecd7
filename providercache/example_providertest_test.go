package providercache_test

import (
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
)

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
