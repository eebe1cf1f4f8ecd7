package providercache_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// recording decodes a lock file for widget 1.0.0, as it may have been written by a newer program.
func recording(t *testing.T, hashes string) *depsfile.Locks {
	t.Helper()
	locks, diags := depsfile.Decode([]byte("provider \"registry.terraform.io/acme/widget\" {\n  version = \"1.0.0\"\n  hashes = ["+hashes+"]\n}\n"), depsfile.FileName, product)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return locks
}

func TestLock_HashesOfUnknownKindsStayWithTheirVersion(t *testing.T) {
	source := widgetSource(t)
	zh := zhOf(t, source, "acme/widget", "1.0.0")
	in := newInstaller(t, source)
	locks, report := install(t, in, widgets, recording(t, `"h9:x", "`+string(zh)+`"`))
	lock, _ := locks.Provider(acmeWidget)
	must.EqualSlices(t, lock.Hashes, hashing.Sort([]getproviders.Hash{"h9:x", zh, report.Outcomes[0].H1}))
	if want := []getproviders.Provider{acmeWidget}; slices.Equal(report.Incomplete, want) {
		t.Errorf("incomplete, although the hash of an archive was recorded")
	}
	source.AddZip(t, "acme/widget", "1.1.0")
	moved, _, err := in.Install(t.Context(), widgets, locks, providercache.Upgrade)
	if lock, _ := moved.Provider(acmeWidget); err != nil || slices.Contains(lock.Hashes, "h9:x") {
		t.Errorf("another version has %q (%v)", lock.Hashes, err)
	}
}

// An entry that has hashes, but none that can be compared, isn't the
// same as an entry without hashes: somebody has chosen a package.
func TestLock_HashesOfUnknownKindsMatchNothing(t *testing.T) {
	source := widgetSource(t)
	unpacked := newSource(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "terraform-provider-widget"), "one")
	unpacked.Add("acme/widget", "1.0.0", getproviders.LocalDirectory(dir))
	required, locks := require("acme/widget", ""), recording(t, `"h9:x"`)

	for name, s := range map[string]*memorySource{"an archive": source, "a directory": unpacked} {
		in := newInstaller(t, s)
		err := attempt(t, in, required, locks)
		if mismatch := getproviders.FaultOf(err, getproviders.ErrLockMismatch); mismatch == nil || !strings.Contains(mismatch.Hint, "only hashes of kinds that this program doesn't know") {
			t.Errorf("%s: got %v", name, err)
		}
		nothingLeft(t, in)
	}

	in := newInstaller(t, source)
	in.Cache = storeIn(t.TempDir(), "cache")
	install(t, in, required, nil)
	if err := attempt(t, in, required, locks); !errors.Is(err, getproviders.ErrLockMismatch) {
		t.Errorf("a package that is there: got %v", err)
	}
	succeed(t, os.RemoveAll(in.Target.Dir))
	if err := attempt(t, in, required, locks); !errors.Is(err, getproviders.ErrLockMismatch) {
		t.Errorf("a package of the cache: got %v", err)
	}
	wanted := providercache.PackageSpecs(locks)
	must.Fail(t, must.ErrorOf(in.Prefetch(t.Context(), wanted)), getproviders.ErrLockMismatch)
	if h1, ok, err := in.FindCached(t.Context(), wanted[0]); ok || err != nil {
		t.Errorf("found %v, %v", h1, err)
	}
}

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

// TestReceipt_KeepsWhatTheRegistryListed: a package from the cache, or one that is there, gets the
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
		source := newWidgetSource(t)
		source.Trust("acme/widget", "1.0.0", listedHashes{zhOf(t, source, "acme/widget", "1.0.0"), wrongH1})
		in := newInstaller(t, source)
		in.Fetcher.HashPolicy = policy
		if _, report := install(t, in, widgets, nil); len(report.Incomplete) != 1 {
			t.Errorf("policy %d: incomplete: %v", policy, report.Incomplete)
		}
	}
}
