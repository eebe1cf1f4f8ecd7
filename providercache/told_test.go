package providercache_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

func TestInstall_RecordsWhatTheRegistryTells(t *testing.T) {
	t.Parallel()
	registry, in := tellingRegistry(t, nil)
	must.Equal(t, installed(t, in), encoded(lockOne(t, newUser(t, registry), everyPlatform).Locks))
	must.Equal(t, registry.Requests("archive"), 1)
	wary := newUser(t, registry)
	wary.Fetcher.HashPolicy = providercache.ComputeHashes
	if got := installed(t, wary); strings.Count(got, `"h1:`) != 1 || strings.Count(got, `"zh:`) != 3 {
		t.Errorf("no listed hash was to be trusted:\n%s", got)
	}
}

func TestInstall_KnowsBetterThanTheRegistry(t *testing.T) {
	t.Parallel()
	_, in := tellingRegistry(t, map[getproviders.Platform]string{linux: wrongH1, otherPlatforms[0]: wrongH1 + "x"})
	got := installed(t, in)
	must.NotContain(t, got, wrongH1)
	must.Equal(t, strings.Count(got, `"h1:`), 2)
}

// TestReceiptsTellWhatTheRegistryTold: a package from the cache, or one that is there, gets the
// same lock entry as one that is fetched, whichever hashes were trusted when it was fetched.
func TestReceipt_KeepsWhatTheRegistryListed(t *testing.T) {
	needsReceipts(t)
	registry, first := tellingRegistry(t, nil)
	cache := must.Get(providercache.OpenCache(filepath.Join(t.TempDir(), "cache"), false))(t)
	first.Cache, first.Fetcher.HashPolicy = cache, providercache.ComputeHashes
	poor := installed(t, first)
	sharing := func() *providercache.Installer {
		in := newUser(t, registry)
		in.Cache, in.Fetcher.StateDir = cache, first.Fetcher.StateDir
		return in
	}
	again := sharing()
	again.Fetcher.HashPolicy = providercache.ComputeHashes
	must.Equal(t, installed(t, again), poor)
	want := installed(t, newUser(t, registry))
	before := registry.Requests("archive")
	linked := sharing()
	must.Equal(t, installed(t, linked), want)
	must.Equal(t, installed(t, linked), want)
	locks, problems := depsfile.Decode([]byte(poor), "poor", product)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got, _ := install(t, linked, everyPlatform.Requirements, locks); encoded(got) != poor {
		t.Errorf("a package that is there and locked changed the locks to\n%s", encoded(got))
	}
	if got, _ := install(t, sharing(), everyPlatform.Requirements, locks); encoded(got) != want {
		t.Errorf("a package that came from the cache left the locks at\n%s", encoded(got))
	}
	must.Equal(t, registry.Requests("archive"), before)
}

func TestMirror_SaysNothingOfOtherPlatforms(t *testing.T) {
	t.Parallel()
	for _, policy := range []providercache.HashPolicy{providercache.TrustRegistryHashes, providercache.TrustMirrorHashes} {
		source := newSource(t)
		source.AddZip(t, "acme/widget", "1.0.0")
		source.Trust("acme/widget", "1.0.0", listedHashes{zhOf(t, source, "acme/widget", "1.0.0"), wrongH1})
		in := newInstaller(t, source)
		in.Fetcher.HashPolicy = policy
		if _, report := install(t, in, widgets, nil); len(report.Incomplete) != 1 {
			t.Errorf("policy %d: incomplete: %v", policy, report.Incomplete)
		}
	}
}
