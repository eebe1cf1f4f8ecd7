package installtest

import (
	"log"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
)

// NewRegistry starts a registry with version 1.0.0 of some of acme's providers, and returns an
// Installer that uses it.
func NewRegistry(tb testing.TB, types ...string) (*providertest.Registry, *providercache.Installer) {
	tb.Helper()
	registry := providertest.New(tb)
	for _, name := range types {
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: name, Version: "1.0.0", Platform: Linux})
	}
	in := NewInstaller(tb, RegistrySource(registry))
	in.Fetcher.Client = Impatient(tb, registry.Client().Transport)
	return registry, in
}

// RegistryHost is the host of a registry without discovery. The registry's own host works with
// discovery, but has a port, which can't be in a file name on Windows.
const RegistryHost = "registry.example.com"

// RegistrySource returns a source of a registry at RegistryHost.
func RegistrySource(r *providertest.Registry) *getproviders.RegistrySource {
	source := r.Source()
	source.Product = Product
	return source
}

// Impatient returns a client that retries at once, and has a short stall timeout.
func Impatient(tb testing.TB, base http.RoundTripper) *http.Client {
	tb.Helper()
	return ImpatientFor(tb, base, 2*time.Second) // a busy machine stalls, too
}

// ImpatientFor returns a client that retries at once, and has the given stall timeout.
func ImpatientFor(tb testing.TB, base http.RoundTripper, stall time.Duration) *http.Client {
	tb.Helper()
	return must.Get(hosts.NewClient(hosts.ClientOptions{
		Base: base, RetryWaitMin: time.Millisecond, RetryWaitMax: 5 * time.Millisecond, StallTimeout: stall,
	}))(tb)
}

// ExampleSource replaces what a program would write as
//
//	product := getproviders.Terraform("1.15.9")
//	client, err := getproviders.NewClient(getproviders.ClientOptions{Retries: 1})
//	source := &getproviders.RegistrySource{Client: client, Discovery: &getproviders.Discovery{Client: client}, Product: product}
//	widget, err := product.ParseProvider("acme/widget")
//	dir := "." // the directory of a configuration
//
// with a registry in this process that has the provider acme/widget.
func ExampleSource() (source getproviders.Source, client *http.Client, widget getproviders.Provider, dir string, closeAll func()) {
	registry, err := providertest.NewRegistry(providertest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: Linux})
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.1.0", Platform: Linux})
	if dir, err = os.MkdirTemp("", "example-"); err != nil {
		log.Fatal(err)
	}
	return RegistrySource(registry), registry.Client(), Provider(RegistryHost + "/acme/widget"), dir, func() {
		registry.Close()
		_ = os.RemoveAll(dir)
	}
}

// Lockable publishes packages for three platforms, each with another archive.
func Lockable(tb testing.TB, registry *providertest.Registry, name string, versions ...string) {
	tb.Helper()
	for _, v := range versions {
		for _, plat := range append(slices.Clone(OtherPlatforms), Linux) {
			registry.Add(providertest.PackageSpec{Namespace: "acme", Type: name, Version: v, Platform: plat, Archive: ZipOf(tb, map[string]string{
				"terraform-provider-" + name: v + plat.String(), "docs/": "",
			})})
		}
	}
}
