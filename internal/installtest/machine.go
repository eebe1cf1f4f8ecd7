package installtest

import (
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
)

// Machine is a user's machine with a shared cache, and a registry with version 1.0.0 of acme's
// providers a and b.
type Machine struct {
	Registry     *providertest.Registry
	Cache, State string // directories
	Named        bool   // the user set the cache's path
	Strict       bool   // a file's ctime must be that of its receipt
}

// Both requires the two providers.
var Both = Require(RegistryHost+"/acme/a", "", RegistryHost+"/acme/b", "~> 1.0")

// NewMachine returns a machine without cache and state.
func NewMachine(tb testing.TB) *Machine {
	tb.Helper()
	registry, _ := NewRegistry(tb, "a", "b")
	dir := tb.TempDir()
	return &Machine{Registry: registry, Cache: filepath.Join(dir, "cache"), State: filepath.Join(dir, "state")}
}

// Installer returns an Installer into a new working directory.
func (m *Machine) Installer(tb testing.TB) *providercache.Installer {
	tb.Helper()
	cache := must.Get(providercache.OpenCache(m.Cache, m.Named))(tb)
	in := NewInstaller(tb, RegistrySource(m.Registry))
	in.Fetcher.Client, in.Cache, in.Fetcher.StateDir = m.Registry.Client(), cache, m.State
	in.Fetcher.StrictTimes = m.Strict
	return in
}

// Maintenance returns the Maintenance of the machine's cache.
func (m *Machine) Maintenance(tb testing.TB) *providercache.Maintenance {
	tb.Helper()
	cache := must.Get(providercache.OpenCache(m.Cache, m.Named))(tb)
	return (&providercache.Fetcher{StateDir: m.State}).Maintain(cache)
}

// PackageDir returns the path of a provider's version in a store, for Linux.
func PackageDir(address, v string) string {
	return layout.UnpackedPath(Provider(address), Version(v), Linux)
}

// InstallBoth installs both providers.
func InstallBoth(tb testing.TB, in *providercache.Installer, locks *depsfile.Locks) *depsfile.Locks {
	tb.Helper()
	locks, _ = Install(tb, in, Both, locks)
	return locks
}
