package providercache_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// machine counts what its installations do.
type machine struct {
	*installtest.Machine
	tb testing.TB
}

func newMachine(tb testing.TB) *machine { return &machine{installtest.NewMachine(tb), tb} }

// parallelMachine returns a machine for a parallel test.
func parallelMachine(t *testing.T) *machine {
	t.Parallel()
	return newMachine(t)
}

// directory is a working directory on the machine.
type directory struct {
	*providercache.Installer
	mu     sync.Mutex
	read   []string // directories that were hashed
	linked int      // packages from the cache
	modes  []providercache.LinkMode
	begun  int // packages fetched
}

// directory returns a new working directory.
func (m *machine) directory() *directory {
	m.tb.Helper()
	d := &directory{Installer: m.Installer(m.tb)}
	d.Fetcher.Observe = d.observe
	return d
}

func (d *directory) observe(_ context.Context, e event.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case e.Kind == event.Hashing:
		d.read = append(d.read, e.Path)
	case e.State == event.Linked:
		d.linked++
		d.modes = append(d.modes, e.Link)
	case e.Kind == event.Fetching:
		d.begun++
	}
}

// first installs into a new directory.
func (m *machine) first() (*depsfile.Locks, string) {
	return m.install(m.directory(), nil)
}

// install installs both providers, and returns what that took: requests by their
// kinds, packages that were read, and packages that were linked; "" if nothing.
func (m *machine) install(d *directory, locks *depsfile.Locks) (*depsfile.Locks, string) {
	m.tb.Helper()
	d.read, d.linked, d.begun, d.modes = nil, 0, 0, nil
	before := len(m.Registry.Log())
	got, _ := install(m.tb, d.Installer, both, locks)
	counts := map[string]int{"read": len(d.read), "linked": d.linked}
	for _, req := range m.Registry.Log()[before:] {
		counts[req.Kind]++
	}
	var did []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		if counts[what] > 0 {
			did = append(did, fmt.Sprint(what, " ", counts[what]))
		}
	}
	return got, strings.Join(did, ", ")
}

var both = installtest.Both

// age makes the packages in a directory look older than a tick of
// any clock. Receipts wait for that by themselves.
func age() { time.Sleep(30 * time.Millisecond) }

func encoded(locks *depsfile.Locks) string { return string(locks.Encode(product)) }

// settled returns a machine with a directory in which everything is installed.
func settled(t *testing.T) (*machine, *directory, *depsfile.Locks) {
	t.Helper()
	m := newMachine(t)
	d := m.directory()
	locks, _ := m.install(d, nil)
	return m, d, locks
}

func TestCache_ALockedProviderInTheCacheCostsNothing(t *testing.T) {
	needsReceipts(t)
	m := newMachine(t)
	locks, did := m.first()
	must.Contain(t, did, "archive 2")
	for i, named := range []bool{false, true, false} {
		m.Named = named
		fresh := m.directory()
		got, did := m.install(fresh, locks)
		must.Equal(t, did, "linked 2", i)
		must.Equal(t, encoded(got), encoded(locks), i)
		_, did = m.install(fresh, locks)
		must.Equal(t, did, "", i)
	}
}

func TestCache_WithoutALockEntryTheCacheGivesWhatADownloadWould(t *testing.T) {
	needsReceipts(t)
	m := newMachine(t)
	cold, _ := m.first()
	fresh := m.directory()
	warm, did := m.install(fresh, nil)
	must.Equal(t, did, "linked 2, versions 2")
	must.Equal(t, encoded(warm), encoded(cold))
	// The packages in the directory itself can be used, too.
	fresh.Cache = nil
	again, did := m.install(fresh, nil)
	must.NotContain(t, did, "package")
	must.Equal(t, encoded(again), encoded(cold))
}

func TestCache_AnotherSourcesPackageIsNotTakenWithoutALockEntry(t *testing.T) {
	m := parallelMachine(t)
	m.first()
	moved := newMachine(t) // another registry for the same host
	moved.Cache, moved.State = m.Cache, m.State
	_, did := moved.first()
	must.Contain(t, did, "archive 2")
}

func TestCache_ALockWithoutSignedHashesLearnsThemFromTheCache(t *testing.T) {
	needsReceipts(t)
	m := newMachine(t)
	full, _ := m.first()
	for _, scheme := range []string{hashing.H1, hashing.ZH} {
		poor := new(depsfile.Locks)
		for _, lock := range full.All() {
			lock.Hashes = slices.DeleteFunc(lock.Hashes, func(h getproviders.Hash) bool { return h.Scheme() != scheme })
			poor.Set(lock)
		}
		got, did := m.install(m.directory(), poor)
		must.Equal(t, did, "linked 2", scheme)
		must.Equal(t, encoded(got), encoded(full), scheme)
	}
}

// The cache may have a package from a directory with another configuration.
func TestCache_GivesNothingThatTheSourceRulesOut(t *testing.T) {
	m := parallelMachine(t)
	locks, _ := m.first()
	before := len(m.Registry.Log())

	d := m.directory()
	d.Fetcher.Source = getproviders.MultiSource{Selectors: []getproviders.Selector{
		{Source: &getproviders.FilesystemMirrorSource{Dir: t.TempDir()}},
		{Source: installtest.RegistrySource(m.Registry), Exclude: []getproviders.Pattern{{Hostname: registryHost, Namespace: "acme", Type: "*"}}},
	}}
	_, _, err := d.Install(t.Context(), both, locks, providercache.Normal)
	must.Fail(t, err, getproviders.ErrProviderNotFound)
	must.Contain(t, err.Error(), "excluded by")
	must.Equal(t, treeOf(t, d.Target.Dir), "")

	plan, err := d.Plan(t.Context(), both, locks, providercache.Normal)
	must.Succeed(t, err)
	must.Len(t, plan.Link, 0)
	must.Equal(t, len(m.Registry.Log()), before)
}

func TestVerify_TrustsNoReceipt(t *testing.T) {
	t.Parallel()
	m, d, locks := settled(t)
	d.Fetcher.Verify = true
	d.Fetcher = installtest.Again(d.Fetcher)
	_, did := m.install(d, locks)
	must.Equal(t, did, "read 2")
}

func TestCache_ADamagedEntryIsReplaced(t *testing.T) {
	needsReceipts(t)
	for name, locked := range map[string]bool{"locked": true, "not locked": false} {
		t.Run(name, func(t *testing.T) {
			m := parallelMachine(t)
			d := m.directory()
			d.Link = providercache.LinkCopy
			locks, _ := m.install(d, nil)
			sound := treeOf(t, d.Target.Dir)
			_, file := packageA(t, m.Cache)
			write(t, file, "damaged")
			if !locked {
				locks = nil
			}
			fresh := m.directory()
			fresh.Link = providercache.LinkCopy
			_, did := m.install(fresh, locks)
			must.Contain(t, did, "archive 1")
			must.Equal(t, treeOf(t, fresh.Target.Dir), sound)
			must.Equal(t, treeOf(t, m.Cache), sound)
		})
	}
	t.Run("a dangling link", func(t *testing.T) {
		m := parallelMachine(t)
		m.Named = true
		d := m.directory()
		locks, _ := m.install(d, nil)
		if !slices.ContainsFunc(tree(t, d.Target.Dir), func(name string) bool { return strings.Contains(name, " -> "+m.Cache) }) {
			t.Skipf("there are no links here, but %q", tree(t, d.Target.Dir))
		}
		succeed(t, os.RemoveAll(m.Cache))
		m.install(d, locks)
		m.Named, m.Cache = false, filepath.Join(t.TempDir(), "elsewhere")
		own := m.directory()
		own.Target = d.Target
		succeed(t, os.RemoveAll(d.Cache.Dir))
		m.install(own, locks)
		if got := tree(t, d.Target.Dir); slices.ContainsFunc(got, func(name string) bool { return strings.Contains(name, " -> ") }) {
			t.Errorf("there is %q", got)
		}
	})
}

// treeOf returns all files of a directory with their content, but not those
// with a dot.
func treeOf(tb testing.TB, dir string) string {
	tb.Helper()
	var all strings.Builder
	for _, name := range files(tb, dir) {
		if !strings.HasPrefix(name, ".") {
			all.WriteString(name + ": " + read(tb, filepath.Join(dir, name)) + "\n")
		}
	}
	return all.String()
}

// only returns the one file whose name begins with prefix.
func only(tb testing.TB, prefix string) string {
	tb.Helper()
	found := must.Get(filepath.Glob(prefix + "*"))(tb)
	if len(found) != 1 {
		tb.Fatalf("%s*: there is %q", prefix, found)
	}
	return found[0]
}

func TestCache_AnEntryThatMatchesAnotherLockStays(t *testing.T) {
	m := parallelMachine(t)
	registryLocks, _ := m.first()
	sound := treeOf(t, m.Cache)
	built := m.withAnotherBuild(t)
	d := built.directory()
	own, _ := built.install(d, nil)
	must.Equal(t, treeOf(t, m.Cache), sound)
	must.Contain(t, treeOf(t, d.Target.Dir), "built elsewhere")
	// Later runs of this directory accept it, and other directories use what is in the cache.
	before := len(m.Registry.Log()) + len(built.Registry.Log())
	built.install(d, own)
	m.install(m.directory(), registryLocks)
	must.Equal(t, len(m.Registry.Log())+len(built.Registry.Log()), before)
}

// withAnotherBuild returns a machine with the same cache, and a mirror's build of acme/a 1.0.0.
func (m *machine) withAnotherBuild(t *testing.T) *machine {
	t.Helper()
	built := newMachine(t)
	built.Registry.Add(providertest.PackageSpec{
		Namespace: "acme", Type: "a", Version: "1.0.0", Platform: linux,
		Archive: zipOf(t, map[string]string{"terraform-provider-a": "built elsewhere"}),
	})
	built.Cache, built.State, built.Named = m.Cache, m.State, m.Named
	return built
}

// Terraform puts packages into a named cache, and may have been killed meanwhile: nothing records what they should be.
func TestCache_AnEntryWithoutAReceiptIsReplacedUnlessItIsThePackage(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, dir, file string){
		"an empty directory": func(t *testing.T, dir, _ string) {
			succeed(t, os.RemoveAll(dir))
			succeed(t, os.Mkdir(dir, 0o755))
		},
		"a file":             func(t *testing.T, dir, _ string) { succeed(t, os.RemoveAll(dir)); write(t, dir, "no directory") },
		"another file":       func(t *testing.T, dir, file string) { succeed(t, os.Rename(file, filepath.Join(dir, "README"))) },
		"a file too many":    func(t *testing.T, dir, _ string) { write(t, filepath.Join(dir, "README"), "") },
		"a byte too many":    func(t *testing.T, _, file string) { write(t, file, read(t, file)+"x") },
		"an empty file":      func(t *testing.T, _, file string) { write(t, file, "") },
		"an unreadable link": func(t *testing.T, dir, _ string) { symlink(t, "nowhere", filepath.Join(dir, "link")) },
	} {
		for _, named := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, named %t", name, named), func(t *testing.T) {
				m := parallelMachine(t)
				m.Named = named
				locks, _ := m.first()
				sound := treeOf(t, m.Cache)
				dir, file := packageA(t, m.Cache)
				damage(t, dir, file)
				succeed(t, os.RemoveAll(m.State))

				m.install(m.directory(), locks)
				must.Equal(t, treeOf(t, m.Cache), sound)
				_, did := m.install(m.directory(), locks)
				must.NotContain(t, did, "archive")
			})
		}
	}
}

// Two builds don't replace each other again and again: the one that came last has a receipt.
func TestCache_AnEntryWithoutAReceiptIsReplacedOnce(t *testing.T) {
	needsReceipts(t)
	m := newMachine(t)
	m.Named = true
	locks, _ := m.first()
	succeed(t, os.RemoveAll(m.State))

	built := m.withAnotherBuild(t)
	built.first()
	replaced := treeOf(t, m.Cache)
	must.Contain(t, replaced, "built elsewhere")
	m.install(m.directory(), locks)
	must.Equal(t, treeOf(t, m.Cache), replaced)
}

func TestCache_ACacheThatCantBeWrittenIsUsedAsItIs(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("nothing is read-only to root")
	}
	m := newMachine(t)
	locks, _ := m.first()
	m.Registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "c", Version: "1.0.0", Platform: linux})
	succeed(t, filepath.WalkDir(m.Cache, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
			err = os.Chmod(path, 0o555)
		}
		return err
	}))
	d, before := m.directory(), m.Registry.Requests("")
	m.install(d, locks)
	must.Equal(t, d.linked, 2)
	must.Equal(t, m.Registry.Requests(""), before)
	install(t, d.Installer, require(registryHost+"/acme/c", ""), nil)
}

func TestCache_ManyGoroutinesFetchEachPackageOnce(t *testing.T) {
	needsReceipts(t)
	m := newMachine(t)
	var all sync.WaitGroup
	for range peertest.Rounds(15, 50) {
		d := m.directory()
		all.Go(func() {
			must.Equal(t, attempt(t, d.Installer, both, nil), nil)
		})
	}
	all.Wait()
	must.Equal(t, m.Registry.Requests("archive"), 2)
}

func TestOpenCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	for path, usable := range map[string]bool{
		"": false, dir: true, filepath.Join(dir, "x", "y"): true, filepath.Join(dir, "file"): false, filepath.Join(dir, "file", "x"): false,
	} {
		cache, err := providercache.OpenCache(path, false)
		must.Equal(t, err == nil, usable, path)
		must.Equal(t, cache != nil, usable, path)
	}
	must.Len(t, tree(t, dir), 1)
}
