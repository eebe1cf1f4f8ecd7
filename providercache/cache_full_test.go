//go:build linux || windows

package providercache_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// grow makes acme/a a package of 400 KB of random bytes, so that its archive is as large.
func (m *machine) grow(t *testing.T) {
	t.Helper()
	m.Registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "a", Version: "1.0.0", Platform: linux,
		Archive: zipOf(t, map[string]string{"terraform-provider-a": noise(400_000)})})
}

func TestCache_ACacheOnAFullDiskIsDoneWithout(t *testing.T) {
	m := parallelMachine(t)
	m.grow(t)
	m.Cache = filepath.Join(installtest.SmallDisk(t, "256k"), "cache")
	d := m.directory()
	locks, _ := m.install(d, nil)
	must.Len(t, files(t, d.Target.Dir), 2)
	for _, name := range files(t, m.Cache) {
		if !strings.Contains(name, "/acme/b/") && !strings.HasPrefix(name, ".locks/") {
			t.Errorf("%s is left in the cache", name)
		}
	}
	_, did := m.install(d, locks)
	must.Equal(t, did, "")
}

// When there is room again, the next run puts the package into the cache.
func TestInstall_SucceedsAfterAFullDisk(t *testing.T) {
	m := parallelMachine(t)
	m.Registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "a", Version: "1.0.0", Platform: linux, // a small archive of a large file
		Archive: zipOf(t, map[string]string{"terraform-provider-a": strings.Repeat("a", 400_000)})})
	disk := installtest.SmallDisk(t, "256k")
	d := m.directory()
	d.Target = storeIn(disk, "target")
	err := attempt(t, d.Installer, both, nil)
	must.Fail(t, err, installtest.ErrDiskFull)
	noStages(t, m.Cache, d.Target.Dir)
	installtest.ResizeDisk(t, disk, "4m")
	_, did := m.install(d, nil)
	must.NotContain(t, did, "archive")
	must.Len(t, files(t, d.Target.Dir), 2)
}
