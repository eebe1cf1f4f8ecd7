//go:build linux || darwin

package providercache_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// swapping is a context that calls a function each time that its Err is
// called, which is between any two steps of an installation.
type swapping struct {
	context.Context
	mu   sync.Mutex
	step func()
}

func (s *swapping) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step()
	return s.Context.Err()
}

// swapper exchanges the package of acme/a in the cache for another one when its first file is
// about to be copied or linked to the target, and if asked to, exchanges it back one step later.
func swapper(t *testing.T, m *machine, d *directory, back bool) (step func(), swapped func() bool) {
	t.Helper()
	dir := filepath.Join(m.Cache, packageDir(registryHost+"/acme/a", "1.0.0"))
	evil, away := filepath.Join(m.Cache, "evil"), filepath.Join(m.Cache, "away")
	write(t, filepath.Join(evil, "terraform-provider-a_v1.0.0"), "evil")
	steps := 0
	return func() {
		begun, err := filepath.Glob(filepath.Join(d.Target.Dir, ".tfdeps-*", "package*"))
		if err != nil || len(begun) == 0 && steps == 0 {
			return
		}
		switch steps++; {
		case steps == 1:
			must.Equal(t, errors.Join(os.Rename(dir, away), os.Rename(evil, dir)), nil)
		case steps == 2 && back:
			must.Equal(t, errors.Join(os.Rename(dir, evil), os.Rename(away, dir)), nil)
		}
	}, func() bool { return steps > 1 }
}

// openDirectories lets every user exchange files of a cache, but
// write to none of them. The cache is made if it doesn't exist.
func openDirectories(t *testing.T, cache string) {
	t.Helper()
	succeed(t, os.MkdirAll(cache, 0o755))
	succeed(t, filepath.WalkDir(cache, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return os.Chmod(path, 0o777)
	}))
}

// In a cache that others can write to, a package may change after
// it was hashed, be copied, and then change back.
func TestCache_APackageThatIsSwappedWhileItIsCopiedIsNotInstalled(t *testing.T) {
	needsReceipts(t)
	for name, mode := range map[string]providercache.LinkMode{"copied": providercache.LinkCopy, "linked": providercache.LinkHardlink} {
		for how, warm := range map[string]bool{"found in the cache": true, "just fetched": false} {
			for ending, back := range map[string]bool{"and back": true, "for good": false} {
				t.Run(name+", "+how+", "+ending, func(t *testing.T) {
					m := parallelMachine(t)
					var locks *depsfile.Locks
					if warm {
						locks, _ = m.first()
					}
					openDirectories(t, m.Cache)
					age()
					d := m.directory()
					d.Link = mode
					step, swapped := swapper(t, m, d, back)
					ctx := &swapping{Context: t.Context(), step: step}
					_, _, err := d.Install(ctx, require(registryHost+"/acme/a", ""), locks, providercache.Normal)
					if !swapped() {
						t.Fatalf("nothing was swapped, so this test shows nothing: %v", err)
					}
					if got := treeOf(t, d.Target.Dir); strings.Contains(got, "evil") || err == nil && got == "" {
						t.Errorf("installed: %q, %v", got, err)
					}
				})
			}
		}
	}
}
