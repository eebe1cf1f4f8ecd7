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

// newRepository is a site with three providers, and three root modules: the first one requires p0, the second one p0 and p1, the third one p2.
func newRepository(t *testing.T) (s *site, dir string, roots []string) {
	t.Helper()
	s, dir = newSite(t, 3), t.TempDir()
	for i, providers := range [][]string{{"p0"}, {"p0", "p1"}, {"p2"}} {
		config := "terraform {\n  backend \"local\" {}\n  required_providers {\n"
		for _, p := range providers {
			config += fmt.Sprintf("    %s = { source = \"%s/acme/%[1]s\" }\n", p, s.registry.Host())
		}
		root := filepath.Join(dir, fmt.Sprint("root", i))
		must.Write(t, filepath.Join(root, "main.tf"), config+"  }\n}\n\nmodule \"m\" {\n  source = \"../m\"\n}\n")
		roots = append(roots, root)
	}
	must.Write(t, filepath.Join(dir, "m", "main.tf"), "")
	return s, dir, roots
}

// TestRecursive_GoesOnAfterAKill kills a run over three directories right before a package comes into the cache, or a file into the first directory. The next one downloads what isn't in
// the cache yet and nothing else, leaves alone what was finished, and has the same result as a run without a kill before it.
func TestRecursive_GoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	harness.RequireProgram(t, "strace")
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
	trace := s.trace(t, dir, "-recursive")
	want := listed(t, dir)
	wantedLocks, _ := locks()
	isStaged := func(path string) bool { return strings.Contains(path, ".tfdeps-") }
	places := slices.DeleteFunc(renamedTo(trace), func(place string) bool {
		return filepath.IsAbs(place) && !strings.HasPrefix(place, filepath.Join(s.cache, "providers"))
	})
	if len(places) < 6 {
		t.Fatalf("%q are renamed to, and there should be more", places)
	}
	for i, place := range places {
		if i%3 != 0 && !peertest.All() {
			continue
		}
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

// TestRecursive_ReadOnlyDirectory has one of three directories be on a file system that is only read: that is told for it alone.
func TestRecursive_ReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	s, dir, roots := newRepository(t)
	writable := readOnly(t, roots[1])
	end := harness.Exec(t, dir, s.env, s.program, "init", "-no-color", "-recursive")
	for _, said := range []string{"\nroot0  ready", "\nroot1  failed", "\nroot2  ready", "\nroot1:\n\nError: ", "read-only file system"} {
		must.Contain(t, end.Said(), said)
	}
	must.Equal(t, end.Code, 1)
	must.Equal(t, harness.ReadLock(t, roots[1]), "(no file)\n")
	writable()
	s.init(t, dir, "-recursive")
}
