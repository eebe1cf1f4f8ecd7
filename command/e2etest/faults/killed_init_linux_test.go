package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// putCall matches a call that renames or syncs a file.
var putCall = regexp.MustCompile(`(?m)^\d+ +(rename(?:at|at2)?|fsync|fdatasync)\((.*)$`)

// quoted matches a path in a call.
var quoted = regexp.MustCompile(`"([^"]*)"`)

// puts lists, in order, the names that calls rename into a directory, and "fsync".
func puts(trace, dir string) (all []string) {
	for _, call := range putCall.FindAllStringSubmatch(trace, -1) {
		paths := quoted.FindAllStringSubmatch(call[2], -1)
		switch {
		case strings.HasSuffix(call[1], "sync"):
			all = append(all, "fsync")
		case len(paths) == 2:
			name := strings.TrimPrefix(paths[1][1], dir+string(filepath.Separator))
			if filepath.IsLocal(name) && !strings.Contains(name, ".tfdeps-") { // not in staging directories
				all = append(all, name)
			}
		}
	}
	return all
}

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

// TestInit_WritesTheLockFileLast: the lock file is renamed after everything that it records, and only it is synced to the
// disk, because a package that is torn by a crash of the machine is found by its hash, but a torn lock file
// would be trusted.
func TestInit_WritesTheLockFileLast(t *testing.T) {
	t.Parallel()
	harness.RequireProgram(t, "strace")
	s, dir := newSiteWithModule(t)
	got := puts(s.trace(t, dir), dir)
	last := len(got) - 1
	if last < 3 || got[last] != depsfile.FileName || got[last-1] != "fsync" || slices.Index(got, "fsync") != last-1 {
		t.Errorf("what was written is %q; want the lock file last, and nothing but that synced", got)
	}
	for _, name := range []string{".terraform/modules/modules.json", ".terraform/providers/"} {
		if !slices.ContainsFunc(got, func(put string) bool { return strings.HasPrefix(put, name) }) {
			t.Errorf("%s is missing in %q", name, got)
		}
	}
	must.Len(t, puts(s.trace(t, dir), dir), 0)
}

// TestInit_IsKilledBeforeEachRename kills an init right before each fifth rename of a file to its place, or each one if all cases run. The
// next init has the same result as one without a kill before it.
func TestInit_IsKilledBeforeEachRename(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	harness.RequireProgram(t, "strace")
	s, dir := newSiteWithModule(t)
	places := renamedTo(s.trace(t, dir))
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

// killAt runs init, and kills it right before a file is renamed to a path.
func (s *site) killAt(t *testing.T, dir, place string, args ...string) {
	t.Helper()
	end := harness.Exec(t, dir, s.env, append([]string{"strace", "-f", "-o", os.DevNull, "-P", place, "-e", "trace=" + changingCalls,
		"-e", "inject=" + changingCalls + ":signal=KILL", s.program, "init", "-no-color"}, args...)...)
	if end.Code == 0 {
		t.Errorf("%s: nobody was killed\n%s", place, end)
	}
}

// renamedTo lists the targets of renames that are the same in each run.
func renamedTo(trace string) (places []string) {
	for _, call := range putCall.FindAllStringSubmatch(trace, -1) {
		paths := quoted.FindAllStringSubmatch(call[2], -1)
		if len(paths) == 2 && !strings.Contains(paths[1][1], ".tfdeps-") && !slices.Contains(places, paths[1][1]) {
			places = append(places, paths[1][1])
		}
	}
	return places
}

// listed lists all files in and below a directory, including hidden ones.
func listed(t *testing.T, dir string) []string {
	return filesWith(t, dir, func(string) bool { return true })
}

// newRepository makes a site with three providers, and three root modules: the first one requires p0, the second one p0 and p1, the third one p2.
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

// TestRecursive_GoesOnAfterAKill kills a run over three directories right before it renames a package into the cache, or a file into the
// first directory. The next run only downloads packages that aren't in the cache yet, doesn't change finished directories, and has the same
// result as a run without a kill before it.
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

// TestRecursive_ReadOnlyDirectory puts one of three directories on a read-only file system: only that directory has an error.
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
