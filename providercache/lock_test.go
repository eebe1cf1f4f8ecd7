package providercache_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
	"github.com/tfdeps/tfdeps/providercache"
)

// lockable publishes packages for three platforms, each another archive.
func lockable(tb testing.TB, registry *providertest.Registry, name string, versions ...string) {
	tb.Helper()
	for _, v := range versions {
		for _, plat := range append(slices.Clone(otherPlatforms), linux) {
			registry.Add(providertest.PackageSpec{Namespace: "acme", Type: name, Version: v, Platform: plat, Archive: zipOf(tb, map[string]string{
				"terraform-provider-" + name: v + plat.String(), "docs/": "",
			})})
		}
	}
}

func lockOne(tb testing.TB, in *providercache.Installer, r providercache.LockRequest) providercache.LockResult {
	tb.Helper()
	result := providercache.Lock(tb.Context(), in.Fetcher, r)[0]
	if result.Err != nil {
		tb.Fatal(result.Err)
	}
	return result
}

func TestLockReadsEachArchiveOnce(t *testing.T) {
	t.Parallel()
	registry, in := newRegistry(t)
	lockable(t, registry, "widget", "1.0.0")
	lockable(t, registry, "gadget", "1.0.0", "2.0.0")
	in.Target, in.Fetcher.StateDir = nil, t.TempDir()
	var requests []providercache.LockRequest
	for range 20 {
		requests = append(requests, providercache.LockRequest{
			Requirements: require(registryHost+"/acme/widget", "", registryHost+"/acme/gadget", ""),
			Platforms:    append(slices.Clone(otherPlatforms), linux, linux),
		})
	}
	first := providercache.Lock(t.Context(), in.Fetcher, requests...)
	for i, result := range first {
		if result.Err != nil || len(result.Packages) != 6 || string(result.Locks.Encode(product)) != string(first[0].Locks.Encode(product)) {
			t.Fatalf("result %d: %v, %d packages\n%s", i, result.Err, len(result.Packages), result.Locks.Encode(product))
		}
	}
	again := lockOne(t, in, requests[0])
	if string(again.Locks.Encode(product)) != string(first[0].Locks.Encode(product)) {
		t.Errorf("what was remembered comes to\n%s\nand not\n%s", again.Locks.Encode(product), first[0].Locks.Encode(product))
	}
	for kind, want := range map[string]int{"archive": 6, "sums": 2, "signature": 2, "versions": 2} {
		if got := registry.Requests(kind); got != want {
			t.Errorf("%d requests of kind %s, want %d", got, kind, want)
		}
	}
	for _, p := range again.Packages {
		if p.From != providercache.HashesRecalled || p.Change != providercache.LockNew || len(p.Missing) != 2 || p.Authentication.TrustLevel != getproviders.LevelCommunity {
			t.Errorf("%v for %v: %+v", p.Selection.Provider, p.Platform, p)
		}
	}
}

func TestLockSaysWhatIsNew(t *testing.T) {
	t.Parallel()
	registry, in := newRegistry(t)
	lockable(t, registry, "widget", "1.0.0", "1.1.0")
	widget := provider(registryHost + "/acme/widget")
	request := providercache.LockRequest{Requirements: require(registryHost+"/acme/widget", "~> 1.0")}
	request.Locks = lockOne(t, in, request).Locks
	request.Platforms = append(slices.Clone(otherPlatforms), linux)
	result := lockOne(t, in, request)
	want := []providercache.LockChange{providercache.LockExtended, providercache.LockExtended, providercache.LockUnchanged}
	for i, p := range result.Packages {
		if p.Change != want[i] || (len(p.Missing) == 1) != (want[i] == providercache.LockExtended) {
			t.Errorf("%s: %v, missing %q", p.Platform, p.Change, p.Missing)
		}
	}
	request.Upgrade = map[getproviders.Provider]getproviders.Version{widget: version("1.0.0")}
	result = lockOne(t, in, request)
	if lock, _ := result.Locks.Provider(widget); lock.Version != version("1.0.0") || len(lock.Hashes) != 6 || result.Packages[0].Change != providercache.LockNew {
		t.Errorf("another version comes to %v", lock)
	}
	if lock, _ := request.Locks.Provider(widget); lock.Version != version("1.1.0") {
		t.Error("the locks that were given have been changed")
	}
}

func TestLockOfAllPlatforms(t *testing.T) {
	t.Parallel()
	registry, in := newRegistry(t)
	lockable(t, registry, "widget", "1.0.0")
	result := lockOne(t, in, providercache.LockRequest{Requirements: require(registryHost+"/acme/widget", ""), AllPlatforms: true})
	var got []string
	for _, p := range result.Packages {
		got = append(got, p.Platform.String())
	}
	if want := "darwin_arm64 linux_amd64 windows_amd64"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
	source := newSource(t)
	source.addZip(t, "acme/widget", "1.0.0")
	silent := providercache.Lock(t.Context(), newInstaller(t, source).Fetcher,
		providercache.LockRequest{Requirements: require("acme/widget", ""), AllPlatforms: true})[0]
	if silent.Err == nil || !strings.Contains(silent.Err.Error(), "doesn't list the platforms") {
		t.Errorf("a source that doesn't tell: %v", silent.Err)
	}
}

func TestOneRequestsFailureIsNotAnothers(t *testing.T) {
	t.Parallel()
	registry, in := newRegistry(t)
	lockable(t, registry, "widget", "1.0.0")
	lockable(t, registry, "gadget", "1.0.0")
	widget, gadget := registryHost+"/acme/widget", registryHost+"/acme/gadget"
	elsewhere := []getproviders.Platform{{OS: "plan9", Arch: "mips"}, linux}
	results := providercache.Lock(t.Context(), in.Fetcher,
		providercache.LockRequest{Requirements: require(widget, "", gadget, ""), Platforms: elsewhere},
		providercache.LockRequest{Requirements: require(widget, "")},
		providercache.LockRequest{Requirements: require(widget, ""), Only: []getproviders.Provider{provider(gadget)}},
		providercache.LockRequest{Requirements: require(widget, "9.0", gadget, "")},
	)
	failures := providerErrors(t, results[0].Err)
	if about, ok := errors.AsType[*providercache.PlatformError](failures[0]); len(failures) != 2 || !ok || about.Platform != elsewhere[0] ||
		failures[0].Provider != provider(gadget) || !errors.Is(failures[0], getproviders.ErrPlatformMissing) {
		t.Errorf("a platform that is missing: %v", results[0].Err)
	}
	if results[1].Err != nil || results[1].Locks == nil {
		t.Errorf("another request: %v", results[1].Err)
	}
	for _, i := range []int{2, 3} {
		if failures := providerErrors(t, results[i].Err); len(failures) != 1 || failures[0].Step != providercache.StepSelect || results[i].Locks != nil {
			t.Errorf("result %d: %v", i, results[i].Err)
		}
	}
	if err := providercache.Lock(t.Context(), new(providercache.Fetcher), providercache.LockRequest{})[0].Err; err == nil {
		t.Error("no error without a Source")
	}
}

func TestLockResumesATransfer(t *testing.T) {
	t.Parallel()
	registry, in := newRegistry(t)
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: linux, Archive: zipOf(t, map[string]string{
		"terraform-provider-widget": noise(300_000),
	})})
	registry.Break("archive", providertest.Fault{CutAfter: 100_000, Times: 2})
	result := lockOne(t, in, providercache.LockRequest{Requirements: require(registryHost+"/acme/widget", "")})
	if want := h1Of(t, map[string]string{"terraform-provider-widget": noise(300_000)}); result.Packages[0].H1 != want {
		t.Errorf("got %s, want %s", result.Packages[0].H1, want)
	}
}

func TestLockRefusesWhatIsNotGenuine(t *testing.T) {
	t.Parallel()
	registry, in := newRegistry(t)
	lockable(t, registry, "widget", "1.0.0")
	registry.Break("archive", providertest.Fault{Body: func([]byte) []byte { return []byte("<html>") }})
	in.Fetcher.StateDir = t.TempDir()
	request := providercache.LockRequest{Requirements: require(registryHost+"/acme/widget", "")}
	err := providercache.Lock(t.Context(), in.Fetcher, request)[0].Err
	if !errors.Is(err, getproviders.ErrAuthentication) {
		t.Errorf("a web page for an archive: %v", err)
	}
	registry.Break("archive", providertest.Fault{})
	if got := lockOne(t, in, request).Packages[0].From; got != providercache.HashesComputed {
		t.Errorf("it was remembered: %v", got)
	}
}

// A list of hashes is what network mirrors have.
func TestLockBelievesListsOnlyOnDemand(t *testing.T) {
	t.Parallel()
	source := newSource(t)
	source.addZip(t, "acme/widget", "1.0.0")
	source.trust("acme/widget", "1.0.0", listedHashes{"h1:listed=", "zh:listed"})
	in := newInstaller(t, source)
	request := providercache.LockRequest{Requirements: require("acme/widget", "")}
	if err := providercache.Lock(t.Context(), in.Fetcher, request)[0].Err; !errors.Is(err, getproviders.ErrAuthentication) {
		t.Errorf("a list that isn't right: %v", err)
	}
	in = newInstaller(t, source)
	in.Fetcher.HashPolicy = providercache.TrustMirrorHashes
	result := providercache.Lock(t.Context(), in.Fetcher, request)[0]
	if result.Err != nil || fmt.Sprint(result.Packages[0].Hashes) != "[h1:listed= zh:listed]" || result.Packages[0].From != providercache.HashesListed {
		t.Errorf("got %+v", result)
	}
	source.trust("acme/widget", "1.0.0", nil)
	if got := providercache.Lock(t.Context(), in.Fetcher, request)[0]; got.Err != nil || got.Packages[0].From != providercache.HashesComputed {
		t.Errorf("without a list: %+v", got)
	}
}

type listedHashes getproviders.AnyHash

func (l listedHashes) Load(context.Context) (getproviders.Authenticator, error) {
	return getproviders.AnyHash(l), nil
}

// Mirrors that the real tools make list an h1 and nothing else.
func TestLockRemembersWhatMirrorsListByAnH1(t *testing.T) {
	t.Parallel()
	source := newSource(t)
	source.addZip(t, "acme/widget", "1.0.0")
	want := h1Of(t, map[string]string{"terraform-provider-widget": "provider 1.0.0\n"})
	source.trust("acme/widget", "1.0.0", listedHashes{want})
	in := newInstaller(t, source)
	in.Fetcher.StateDir = t.TempDir()
	request := providercache.LockRequest{Requirements: require("acme/widget", "")}
	for i, from := range []providercache.HashOrigin{providercache.HashesComputed, providercache.HashesRecalled} {
		got := lockOne(t, in, request).Packages[0]
		if got.From != from || got.H1 != want || got.Authentication.TrustLevel != getproviders.LevelVerifiedChecksum {
			t.Errorf("run %d: %+v", i+1, got)
		}
	}
}

func TestInstallRemembersArchivesForLock(t *testing.T) {
	t.Parallel()
	registry, in := newRegistry(t)
	lockable(t, registry, "widget", "1.0.0")
	in.Fetcher.StateDir, in.Fetcher.Platform = t.TempDir(), linux
	req := require(registryHost+"/acme/widget", "")
	locks, _ := install(t, in, req, nil)
	got := lockOne(t, in, providercache.LockRequest{Requirements: req, Locks: locks, Platforms: []getproviders.Platform{linux}})
	if got.Packages[0].From != providercache.HashesRecalled || registry.Requests("archive") != 1 {
		t.Errorf("%d requests, %+v", registry.Requests("archive"), got.Packages[0])
	}
}

func TestLockTellsOfEachPackage(t *testing.T) {
	t.Parallel()
	registry, in := newRegistry(t)
	lockable(t, registry, "widget", "1.0.0")
	var begun, fetched, done int
	in.Fetcher.Observe = func(_ context.Context, e providercache.Event) {
		switch e := e.(type) {
		case providercache.LockBegin:
			begun += len(e.Packages)
		case providercache.LockFetch:
			fetched++
		case providercache.LockDone:
			done++
		}
	}
	lockOne(t, in, providercache.LockRequest{Requirements: require(registryHost+"/acme/widget", ""), AllPlatforms: true, Locks: new(depsfile.Locks)})
	if begun != 3 || fetched != 3 || done != 3 {
		t.Errorf("begun %d, fetched %d, done %d", begun, fetched, done)
	}
}
