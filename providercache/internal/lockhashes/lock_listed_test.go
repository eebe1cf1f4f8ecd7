package lockhashes_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
)

func TestLock_TrustsARegistry(t *testing.T) {
	t.Parallel()
	registry, in := tellingRegistry(t, nil)
	believed := lock(t, in, everyPlatform)
	succeed(t, believed.Err)
	for _, p := range believed.Packages {
		if p.State != event.Listed || p.Authentication.TrustLevel != getproviders.LevelCommunity || p.ZH == "" {
			t.Errorf("%s: %+v", p.Platform, p)
		}
	}
	must.Equal(t, registry.Requests("archive"), 0)
	must.Equal(t, registry.Requests("sums")+registry.Requests("signature"), 2)
	reader := newUser(t, registry)
	reader.Fetcher.HashPolicy = fetch.ComputeHashes
	computed := lockOne(t, reader, everyPlatform)
	must.Equal(t, registry.Requests("archive"), 3)
	must.Equal(t, encoded(believed.Locks), encoded(computed.Locks))
	wary := newUser(t, registry)
	wary.Fetcher.Policy = func(context.Context, getproviders.Candidate) error { return errRefused }
	must.Fail(t, lock(t, wary, everyPlatform).Err, errRefused)
}

// TestLock_RecordsWhatIsListedOfOtherPlatforms: a lock for one of
// the platforms also has the hashes of all others.
func TestLock_RecordsWhatIsListedOfOtherPlatforms(t *testing.T) {
	t.Parallel()
	registry, in := tellingRegistry(t, nil)
	all := lockOne(t, in, everyPlatform).Locks.Encode(product)
	one := everyPlatform
	one.Platforms = onLinux
	got := lockOne(t, newUser(t, registry), one)
	must.Equal(t, encoded(got.Locks), string(all))
	must.Equal(t, got.Packages[0].New, true)
	reader := newUser(t, registry)
	reader.Fetcher.HashPolicy = fetch.ComputeHashes
	old := lockOne(t, reader, one)
	must.Equal(t, strings.Count(encoded(old.Locks), `"h1:`), 1)
	one.Locks = old.Locks
	if got := lockOne(t, newUser(t, registry), one); encoded(got.Locks) != string(all) || !got.Packages[0].Extended || len(got.Packages[0].Missing) != 0 {
		t.Errorf("got %+v\n%s\nwant\n%s", got.Packages, got.Locks.Encode(product), all)
	}
	widget := provider(widgetAddress)
	hashes, err := newUser(t, registry).Fetcher.Hashes(t.Context(), widget, v1, one.Platforms)
	if lock, _ := lockOne(t, in, everyPlatform).Locks.Provider(widget); err != nil || !slices.Equal(hashes[linux], lock.Hashes) {
		t.Errorf("Hashes: %v, %v, want %v", hashes, err, lock.Hashes)
	}
}

// TestLock_KnowsBetterThanARegistry: for a package that was read, the computed hash is
// recorded, and listed hashes aren't, neither for itself nor for other platforms.
func TestLock_KnowsBetterThanARegistry(t *testing.T) {
	t.Parallel()
	registry, in := tellingRegistry(t, map[getproviders.Platform]string{linux: wrongH1, otherPlatforms[0]: wrongH1})
	in.Fetcher.HashPolicy = fetch.ComputeHashes
	computed := lockOne(t, in, everyPlatform)
	trusting := newUser(t, registry)
	trusting.Fetcher.StateDir = in.Fetcher.StateDir
	must.Equal(t, encoded(lockOne(t, trusting, everyPlatform).Locks), encoded(computed.Locks))
	one := everyPlatform
	one.Platforms, one.Done = otherPlatforms, onLinux
	must.NotContain(t, encoded(lockOne(t, trusting, one).Locks), wrongH1)
	must.Contain(t, lockOne(t, newUser(t, registry), everyPlatform).Packages[0].Hashes, wrongH1, "the test proves nothing")
}

func TestLock_TrustsNoRegistryThatContradictsItself(t *testing.T) {
	t.Parallel()
	registry, in := newRegistryThatTells(t, wrongH1, "zh:0000000000000000000000000000000000000000000000000000000000000000")
	got := lock(t, in, everyPlatform)
	if got.Err != nil || got.Packages[0].State != event.Fetched || registry.Requests("archive") != 3 {
		t.Errorf("%d archives were read: %+v", registry.Requests("archive"), got)
	}
}

// newRegistryThatTells lists the same hashes for all packages. The archives differ,
// because equal archives that are requested at once may be downloaded once.
func newRegistryThatTells(t *testing.T, hashes ...string) (*providertest.Registry, *providercache.Installer) {
	t.Helper()
	registry, in := tellingRegistry(t, nil)
	for _, plat := range everyPlatform.Platforms {
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: plat, Hashes: hashes,
			Archive: zipOf(t, map[string]string{"terraform-provider-widget": plat.String()})})
	}
	return registry, in
}

func TestLock_TrustsNoUnsignedRegistry(t *testing.T) {
	t.Parallel()
	registry, in := tellingRegistry(t, nil)
	registry.Break("sums", providertest.Fault{Body: func([]byte) []byte { return []byte("nothing") }})
	must.Refuse(lock(t, in, everyPlatform).Err)(t)
}

func TestLock_LeavesOutWhatIsDone(t *testing.T) {
	t.Parallel()
	registry, in := tellingRegistry(t, nil)
	in.Fetcher.HashPolicy = fetch.ComputeHashes
	request := everyPlatform
	request.Done, request.AllPlatforms, request.Locks = onLinux, true, new(depsfile.Locks)
	must.Len(t, lockOne(t, in, request).Packages, 2)
	must.Equal(t, registry.Requests("archive"), 2)
	request.Platforms, request.AllPlatforms = onLinux, false
	must.Len(t, lockOne(t, in, request).Packages, 0)
}

// A registry that lists hashes decides which package is right for other platforms. Unless the
// product or the user trusts that registry, only what is signed or was read counts.
func TestLock_LeavesOutWhatARegistryListsUnsigned(t *testing.T) {
	t.Parallel()
	registry, _ := tellingRegistry(t, map[getproviders.Platform]string{otherPlatforms[0]: wrongH1, otherPlatforms[1]: wrongH1})
	ordinary := func() *providercache.Installer {
		in := newUser(t, registry)
		in.Fetcher.Product = product
		return in
	}
	if got := installed(t, ordinary()); strings.Contains(got, wrongH1) || strings.Count(got, `"h1:`) != 1 || strings.Count(got, `"zh:`) != 3 {
		t.Errorf("init recorded\n%s", got)
	}
	locked := string(lockOne(t, ordinary(), everyPlatform).Locks.Encode(product))
	must.NotContain(t, locked, wrongH1)
	must.Equal(t, strings.Count(locked, `"h1:`), 3)
	must.Equal(t, registry.Requests("archive"), 1+3)
	asked := ordinary()
	asked.Fetcher.HashPolicy = fetch.TrustMirrorHashes
	if got := installed(t, asked); strings.Count(got, wrongH1) != 1 { // both are the same
		t.Errorf("what its user trusts isn't recorded:\n%s", got)
	}
}
