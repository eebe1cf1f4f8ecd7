package providercache_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache"
)

// File locks only save work. Without them several processes may fetch a
// package, and each of them has it in the end, because the rename decides.
func TestInstall_IsSafeWithoutFileLocks(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, m *machine){
		"no place for them": func(t *testing.T, m *machine) { write(t, filepath.Join(m.Cache, ".locks"), "") },
		"they can't be had": func(t *testing.T, m *machine) {
			for _, p := range []string{"a", "b"} {
				lock := strings.ReplaceAll(packageDir(registryHost+"/acme/"+p, "1.0.0"), "/", "+")
				succeed(t, os.MkdirAll(filepath.Join(m.Cache, ".locks", lock), 0o755))
			}
		},
		"nor those for receipts": func(t *testing.T, m *machine) {
			for _, kind := range []string{"receipts", "uses", "last-uses"} {
				succeed(t, os.MkdirAll(filepath.Join(m.State, kind, "lock"), 0o700))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := parallelMachine(t)
			spoil(t, m)
			var all sync.WaitGroup
			dirs := make([]*directory, peertest.Rounds(6, 12))
			for i := range dirs {
				dirs[i] = m.directory()
				dirs[i].Link = []providercache.LinkMode{providercache.LinkAuto, providercache.LinkHardlink, providercache.LinkSymlink}[i%3]
				all.Go(func() {
					must.Equal(t, attempt(t, dirs[i].Installer, both, nil), nil)
				})
			}
			all.Wait()
			m.isInOrder(t, dirs)
		})
	}
}

// isInOrder verifies the cache, and directories that have both packages.
func (m *machine) isInOrder(t *testing.T, dirs []*directory) {
	t.Helper()
	isSound(t, m.Cache, m.State, 2)
	sound := treeOf(t, m.Cache)
	for _, d := range dirs {
		got := ""
		for _, p := range []string{"a", "b"} { // by name, as they may be links
			name := packageDir(registryHost+"/acme/"+p, "1.0.0")
			file := only(t, filepath.Join(d.Target.Dir, name, "terraform-provider-"+p))
			got += name + "/" + filepath.Base(file) + ": " + read(t, file) + "\n"
		}
		must.Equal(t, got, sound, d.Target.Dir)
		noStages(t, d.Target.Dir)
	}
}

// isSound verifies a cache that has so many packages, and nothing that is unfinished.
func isSound(t *testing.T, cache, state string, packages int) {
	t.Helper()
	found, err := (&providercache.Fetcher{StateDir: state}).Maintain(storeIn(cache)).Verify(t.Context(), nil)
	if err != nil || len(found) != packages || slices.ContainsFunc(found, providercache.Verified.Differs) {
		t.Errorf("the cache has %+v, %v", found, err)
	}
	noStages(t, cache)
}

// A run that finds everything in place removes what a killed run left.
func TestInstall_SweepsWithNothingElseToDo(t *testing.T) {
	needsReceipts(t)
	m, d, locks := settled(t)
	for _, root := range []string{d.Target.Dir, m.Cache} {
		left := must.Get(scratch.Make(root))(t)
		if !left.Abandon() { // there are no locks here that end with their process
			old := time.Now().Add(-scratch.AbandonedAfter - time.Minute)
			succeed(t, os.Chtimes(left.Path, old, old))
		}
		running := must.Get(scratch.Make(root))(t)
		t.Cleanup(running.Remove)
	}
	_, did := m.install(d, locks)
	must.Equal(t, did, "")
	for _, root := range []string{d.Target.Dir, m.Cache} {
		must.Equal(t, stagingDirs(tree(t, root)), 1, root)
	}
}

// Without file locks, an unfinished package is removed when it is old: no other process can be
// working on it.
func TestInstall_SweepsStagingDirectoriesByAge(t *testing.T) {
	m := parallelMachine(t)
	old, young := filepath.Join(m.Cache, scratch.Prefix+"old"), filepath.Join(m.Cache, scratch.Prefix+"young")
	for dir, age := range map[string]time.Duration{old: scratch.AbandonedAfter + time.Minute, young: scratch.AbandonedAfter - time.Minute} {
		write(t, filepath.Join(dir, "archive.zip"), "")
		succeed(t, os.Chtimes(dir, time.Time{}, time.Now().Add(-age)))
	}
	m.first()
	for dir, want := range map[string]bool{old: false, young: true} {
		must.Equal(t, must.ErrorOf(os.Stat(dir)) == nil, want, dir)
	}
}
