package providercache_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// judge is a policy that records what it is asked.
type judge struct {
	mu    sync.Mutex
	asked []getproviders.Candidate
	no    error
}

func (j *judge) policy(_ context.Context, c getproviders.Candidate) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked = append(j.asked, c)
	return j.no
}

// states lists the states of the packages that it was asked about since the last call, each once.
func (j *judge) states() string {
	var states []string
	for _, c := range j.asked {
		if len(c.Hashes) == 0 {
			states = append(states, "without hashes")
		}
		states = append(states, string(c.State))
	}
	j.asked = nil
	slices.Sort(states)
	return strings.Join(slices.Compact(states), " ")
}

var errForbidden = errors.New("the company forbids it")

// policyMachine has a working directory with a cache, whose Fetcher has a policy.
func policyMachine(t *testing.T) (*machine, *directory, *judge) {
	t.Helper()
	m, j := newMachine(t), new(judge)
	d := m.directory()
	d.Fetcher.Policy = j.policy
	return m, d, j
}

// refusedBy checks an error that a policy causes.
func refusedBy(t *testing.T, what string, err error) {
	t.Helper()
	refused := getproviders.FaultOf(err, getproviders.ErrRefused)
	if refused == nil || !errors.Is(err, errForbidden) || !strings.HasSuffix(err.Error(), errForbidden.Error()) {
		t.Errorf("%s: %v is no refusal", what, err)
		return
	}
	if failed, ok := getproviders.Failure(err); !ok || getproviders.CodeOf(failed) != "refused_by_policy" || failed.Step != during.Policy {
		t.Errorf("%s: %v has another code or step", what, err)
	}
	if c := refused.Subject; c.Version != v1 || c.Provider.Namespace != "acme" || c.Platform == (getproviders.Platform{}) {
		t.Errorf("%s: it was asked about %+v", what, c)
	}
}

func TestPolicy_SeesWhatIsInstalled(t *testing.T) {
	needsReceipts(t)
	m, d, j := policyMachine(t)
	locks, _ := m.install(d, nil)
	must.Len(t, j.asked, 2)
	for _, c := range j.asked {
		origin := "https://" + registryHost
		signed := c.Authentication.KeyID == m.Registry.Signer().KeyID()
		if !signed || len(c.Hashes) != 2 || c.Source != "registry "+registryHost || !strings.HasSuffix(c.Location, ".zip") || !strings.HasPrefix(c.SourceURL, "https://") || c.Platform != linux {
			t.Errorf("of a package of %s it was told %+v", origin, c)
		}
	}
	must.Equal(t, j.states(), "fetched")
	m.install(d, locks)
	must.Equal(t, j.states(), "present")
	other := m.directory()
	other.Fetcher.Policy = j.policy
	m.install(other, locks)
	must.Equal(t, j.states(), "cached")
}

func TestPolicy_RefusesWhatIsInstalled(t *testing.T) {
	needsReceipts(t)
	m, d, j := policyMachine(t)
	j.no = errForbidden
	attempt := func(what string, d *directory, locks *depsfile.Locks) {
		t.Helper()
		got, _, err := d.Install(t.Context(), both, locks, providercache.Normal)
		if got != nil || len(getproviders.SplitErrors(err)) != 2 {
			t.Errorf("%s: locks %v, %v", what, got, err)
		}
		refusedBy(t, what, err)
	}
	attempt("fetched", d, nil)
	nothingLeft(t, d.Installer)
	j.no = nil
	locks, _ := m.install(d, nil)
	j.no = errForbidden
	before := treeOf(t, d.Target.Dir)
	attempt("present", d, locks)
	must.Equal(t, treeOf(t, d.Target.Dir), before)
	must.Refuse(d.Plan(t.Context(), both, locks, providercache.Normal))(t, "it was planned")
	status := must.Get(d.Check(t.Context(), both, locks))(t)
	must.Len(t, status.Reasons, 2)
	must.Equal(t, status.Reasons[0].Code, "package_refused")
	other := m.directory()
	other.Fetcher.Policy = j.policy
	attempt("cached", other, locks)
	nothingLeft(t, other.Installer)
}

type policyPath struct {
	name, first, again string
	run                func() error
}

// policyPaths are the ways to packages other than Install, with the states in the first and in the
// second run.
func policyPaths(t *testing.T, d *directory) []policyPath {
	f, dir := d.Fetcher, t.TempDir()
	one := require(registryHost+"/acme/a", "")
	spec := getproviders.PackageSpec{Provider: provider(registryHost + "/acme/a"), Version: v1}
	var locks *depsfile.Locks
	vendor := func(unpacked bool) func() error {
		return func() error {
			opts := mirror.VendorOptions{Dir: filepath.Join(dir, fmt.Sprintf("vendored-%t", unpacked)), Unpacked: unpacked}
			result, err := mirror.Vendor(t.Context(), f, opts, providercache.LockRequest{Requirements: one, Locks: locks})
			if err == nil {
				locks = result.Locks
			}
			return err
		}
	}
	return []policyPath{
		{"Prefetch", "fetched", "present", func() error {
			return must.ErrorOf(d.Prefetch(t.Context(), []getproviders.PackageSpec{spec}))
		}},
		{"Hashes", "fetched", "known", func() error {
			return must.ErrorOf(f.Hashes(t.Context(), spec.Provider, spec.Version, onLinux))
		}},
		{"Lock", "known", "known", func() error {
			return installtest.First(f.Lock(t.Context(), providercache.LockRequest{Requirements: one})).Err
		}},
		{"Mirror", "fetched", "present", func() error {
			return must.ErrorOf(mirror.Update(t.Context(), f, mirror.Directory(filepath.Join(dir, "mirror")), []mirror.Spec{{PackageSpec: spec}}, mirror.Options{}))
		}},
		{"Vendor, packed", "fetched", "present", vendor(false)},
		{"Vendor, unpacked", "fetched", "present", vendor(true)},
	}
}

func TestPolicy_IsAskedOnEveryPath(t *testing.T) {
	needsReceipts(t)
	_, d, j := policyMachine(t)
	for _, p := range policyPaths(t, d) {
		j.no = errForbidden
		refusedBy(t, p.name, p.run())
		j.asked, j.no = nil, nil
		succeed(t, p.run())
		must.Equal(t, j.states(), p.first, p.name)
		succeed(t, p.run())
		must.Equal(t, j.states(), p.again, p.name)
		j.no = errForbidden
		refusedBy(t, p.name+" once more", p.run())
	}
}
