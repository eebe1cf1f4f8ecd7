package providercache_test

import (
	"fmt"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// skipping returns an Installer that skips three providers, and whose source has only acme/ours.
func skipping(t *testing.T) *providercache.Installer {
	t.Helper()
	source := newSource(t)
	source.AddZip(t, "acme/ours", "1.0.0")
	in := newInstaller(t, source)
	in.Skip = map[getproviders.Provider]bool{
		provider("acme/locked"): true, provider("acme/unlocked"): true, provider("acme/gone"): true,
	}
	return in
}

// skippedLocks has entries that make an installation fail unless their providers are skipped.
func skippedLocks() *depsfile.Locks {
	locks := new(depsfile.Locks)
	locks.Set(entry("acme/locked", "0.1.0", "h1:kept"))
	locks.Set(entry("acme/gone", "0.2.0"))
	return locks
}

func TestSkip_InstallLeavesSkippedProvidersAlone(t *testing.T) {
	t.Parallel()
	in := skipping(t)
	var got recorder
	in.Fetcher.Observe = got.observe
	req := require("acme/ours", "", "acme/locked", "~> 1.0", "acme/unlocked", "")
	for _, mode := range []providercache.Mode{providercache.Normal, providercache.Upgrade} {
		locks, report, err := in.Install(t.Context(), req, skippedLocks(), mode)
		succeed(t, err)
		var kept []string
		for _, lock := range locks.All() {
			kept = append(kept, fmt.Sprintf("%s %s %d", lock.Provider.Type, lock.Version, len(lock.Hashes)))
		}
		// Entries of providers that aren't required any more are removed, skipped or not.
		must.EqualSlices(t, kept, []string{"locked 0.1.0 1", "ours 1.0.0 1"})
		must.Len(t, report.Outcomes, 1)
	}
	must.Len(t, got.of, 1)
	must.EqualSlices(t, got.pending, []string{"1", "1"})
	must.Len(t, req, 3, "the requirements were changed")
}

func TestSkip_SkippedProvidersAreNeitherPlannedNorChecked(t *testing.T) {
	t.Parallel()
	in := skipping(t)
	req := require("acme/locked", "~> 1.0", "acme/unlocked", "")
	plan := must.Get(in.Plan(t.Context(), req, skippedLocks(), providercache.Normal))(t)
	must.Equal(t, len(plan.Fetch)+len(plan.Present), 0)
	status := must.Get(in.Check(t.Context(), req, skippedLocks()))(t)
	must.Len(t, status.Reasons, 1)
	must.Equal(t, status.Reasons[0].Code, "lock_extra_provider")
}

func TestSkip_EnsureRefusesASkippedProvider(t *testing.T) {
	t.Parallel()
	_, err := skipping(t).Ensure(t.Context(), provider("acme/locked"), constraints(""))
	if _, ok := getproviders.Failure(err); !ok {
		t.Errorf("got %v, want a ProviderError", err)
	}
}
