package providercache_test

import (
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
	"github.com/tfdeps/tfdeps/providercache"
)

// listingRegistry starts a registry that tells the hashes of all packages, and
// publishes one for each of three platforms; hashes are what it tells of them, nil:
// what they are.
func listingRegistry(tb testing.TB, hashes []string) (*providertest.Registry, *providercache.Installer) {
	tb.Helper()
	registry, err := providertest.NewRegistry(providertest.Options{ListHashes: true})
	must(tb, err)
	tb.Cleanup(registry.Close)
	for _, plat := range append(slices.Clone(otherPlatforms), linux) {
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: plat, Hashes: hashes,
			Archive: zipOf(tb, map[string]string{"terraform-provider-widget": plat.String()})})
	}
	in := newInstaller(tb, registrySource(registry))
	in.Client, in.StateDir = registry.Client(), tb.TempDir()
	return registry, in
}

var everyPlatform = providercache.LockRequest{
	Requirements: require(registryHost+"/acme/widget", ""), Platforms: append(slices.Clone(otherPlatforms), linux),
}

func TestLockBelievesARegistryOnDemand(t *testing.T) {
	t.Parallel()
	registry, in := listingRegistry(t, nil)
	believed := in.Lock(t.Context(), providercache.BelieveSources, everyPlatform)[0]
	must(t, believed.Err)
	for _, p := range believed.Packages {
		if p.From != providercache.HashesListed || p.Authentication.Tier != getproviders.TierCommunity || p.ZH == "" {
			t.Errorf("%s: %+v", p.Platform, p)
		}
	}
	if n := registry.Requests("archive"); n != 0 {
		t.Errorf("%d archives were asked for", n)
	}
	if n := registry.Requests("sums") + registry.Requests("signature"); n != 2 {
		t.Errorf("%d requests for the list and its signature, want 2", n)
	}
	computed := lockOne(t, in, everyPlatform)
	if n := registry.Requests("archive"); n != 3 {
		t.Errorf("%d archives were read, want 3", n)
	}
	if got, want := string(believed.Locks.Encode(engine)), string(computed.Locks.Encode(engine)); got != want {
		t.Errorf("believed\n%s\ncomputed\n%s", got, want)
	}
}

func TestLockKnowsBetterThanARegistry(t *testing.T) {
	t.Parallel()
	const wrong = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	_, in := listingRegistry(t, []string{wrong})
	computed := lockOne(t, in, everyPlatform)
	again := in.Lock(t.Context(), providercache.BelieveSources, everyPlatform)[0]
	must(t, again.Err)
	if got, want := string(again.Locks.Encode(engine)), string(computed.Locks.Encode(engine)); got != want {
		t.Errorf("a list replaces what was read:\n%s\nwant\n%s", got, want)
	}
	in.StateDir = t.TempDir()
	believed := in.Lock(t.Context(), providercache.BelieveSources, everyPlatform)[0]
	if believed.Err != nil || !slices.Contains(believed.Packages[0].Hashes, wrong) {
		t.Errorf("the test proves nothing: %+v", believed)
	}
}

func TestLockBelievesNoRegistryThatContradictsItself(t *testing.T) {
	t.Parallel()
	const zh = "zh:0000000000000000000000000000000000000000000000000000000000000000"
	registry, in := listingRegistry(t, []string{"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", zh})
	got := in.Lock(t.Context(), providercache.BelieveSources, everyPlatform)[0]
	if got.Err != nil || got.Packages[0].From != providercache.HashesComputed || registry.Requests("archive") != 3 {
		t.Errorf("%d archives were read: %+v", registry.Requests("archive"), got)
	}
}

func TestLockBelievesNoRegistryThatNobodySignsFor(t *testing.T) {
	t.Parallel()
	registry, in := listingRegistry(t, nil)
	registry.Break("sums", providertest.Fault{Body: func([]byte) []byte { return []byte("nothing") }})
	if got := in.Lock(t.Context(), providercache.BelieveSources, everyPlatform)[0]; got.Err == nil {
		t.Errorf("it was believed: %+v", got)
	}
}

func TestLockLeavesOutWhatIsDone(t *testing.T) {
	t.Parallel()
	registry, in := listingRegistry(t, nil)
	request := everyPlatform
	request.Done, request.AllPlatforms, request.Locks = []getproviders.Platform{linux}, true, new(depsfile.Locks)
	got := lockOne(t, in, request)
	if len(got.Packages) != 2 || registry.Requests("archive") != 2 {
		t.Errorf("%d requests, %+v", registry.Requests("archive"), got.Packages)
	}
	request.Platforms, request.AllPlatforms = []getproviders.Platform{linux}, false
	if got := lockOne(t, in, request); len(got.Packages) != 0 {
		t.Errorf("got %+v", got.Packages)
	}
}
