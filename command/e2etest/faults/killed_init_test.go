package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// newSiteWithModule makes a site, and a directory for which init writes a package, the
// record of a module, that of a backend and a lock file.
func newSiteWithModule(t *testing.T) (s *site, dir string) {
	t.Helper()
	s = newSite(t, 1)
	dir = s.directory(t)
	must.Write(t, filepath.Join(dir, "more.tf"), "terraform {\n  backend \"local\" {}\n}\n\nmodule \"m\" {\n  source = \"./m\"\n}\n")
	must.Write(t, filepath.Join(dir, "m/main.tf"), "")
	return s, dir
}

// TestInit_IsKilledBeforeEachRename kills an init right before each fifth rename of a file to its place, or each one if all cases run, and
// on other systems than Linux at some moments. The next init has the same result as one without a kill before it.
func TestInit_IsKilledBeforeEachRename(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	s, dir := newSiteWithModule(t)
	places := s.places(t, dir)
	if len(places) < 8 {
		t.Fatalf("%q are renamed to, and there should be more", places)
	}
	want, lock := listed(t, dir), harness.LockOf(t, dir)
	for i := 0; i < len(places); i += peertest.Stride(1) {
		place := places[i]
		s.forget(t, dir, ".terraform", depsfile.FileName)
		s.killAt(t, dir, place)
		s.init(t, dir)
		must.EqualSlices(t, listed(t, dir), want, place)
		must.Equal(t, harness.LockOf(t, dir), lock, place)
		s.nothingUnfinished(t)
		must.Contain(t, harness.Run(t, "", s.env, s.program, "cache", "verify"), ": 1 sound\n", place)
	}
}

// listed lists all files in and below a directory, including hidden ones.
func listed(t *testing.T, dir string) []string {
	return filesWith(t, dir, func(string) bool { return true })
}

// newRepository makes a site with three providers, and three root modules: the first one requires p0, the second one p0 and p1, the third one p2.
func newRepository(t *testing.T) (s *site, dir string, roots []string) {
	t.Helper()
	s, dir = newSite(t, 3), t.TempDir()
	for i, providers := range [][]int{{0}, {0, 1}, {2}} {
		root := filepath.Join(dir, fmt.Sprint("root", i))
		must.Write(t, filepath.Join(root, "main.tf"), requiring(providers...)+"terraform {\n  backend \"local\" {}\n}\n\nmodule \"m\" {\n  source = \"../m\"\n}\n")
		roots = append(roots, root)
	}
	must.Write(t, filepath.Join(dir, "m", "main.tf"), "")
	return s, dir, roots
}

// TestRecursive_GoesOnAfterAKill kills a run over three directories right before it renames a package into the cache, or a file into the
// first directory, or as the last test does. The next run only downloads packages that aren't in the cache yet, doesn't change finished directories, and has the same
// result as a run without a kill before it.
func TestRecursive_GoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	s, dir, roots := newRepository(t)
	locks := func() (all []string, times []time.Time) {
		for _, root := range roots {
			at := time.Time{}
			if info, err := os.Stat(filepath.Join(root, depsfile.FileName)); err == nil {
				at = info.ModTime()
			}
			all, times = append(all, harness.ReadLock(t, root)), append(times, at)
		}
		return all, times
	}
	places := s.places(t, dir, "-recursive")
	want := listed(t, dir)
	wantedLocks, _ := locks()
	isStaged := func(path string) bool { return strings.Contains(path, ".tfdeps-") }
	places = slices.DeleteFunc(places, func(place string) bool {
		return filepath.IsAbs(place) && !strings.HasPrefix(place, filepath.Join(s.cache, "providers"))
	})
	if len(places) < 6 {
		t.Fatalf("%q are renamed to, and there should be more", places)
	}
	for i := 0; i < len(places); i += peertest.Stride(1) {
		place := places[i]
		for _, root := range roots {
			s.forget(t, root, ".terraform", depsfile.FileName)
		}
		s.killAt(t, dir, place, "-recursive")
		_, finished := locks()
		cached, before := len(slices.DeleteFunc(packagesBelow(t, s.cache), isStaged)), s.registry.Requests("archive")
		s.init(t, dir, "-recursive")
		must.Equal(t, s.registry.Requests("archive")-before, 3-cached, place)
		all, times := locks()
		for i := range roots {
			if all[i] != wantedLocks[i] || !finished[i].IsZero() && !finished[i].Equal(times[i]) {
				t.Errorf("%s: the lock file of %s, written at %v and at %v, is\n%s", place, roots[i], finished[i], times[i], all[i])
			}
		}
		must.EqualSlices(t, listed(t, dir), want, place)
	}
}
