package faults

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/must"
)

// putCall is a call by which a file comes into its place, or to the disk.
var putCall = regexp.MustCompile(`(?m)^\d+ +(rename(?:at|at2)?|fsync|fdatasync)\((.*)$`)

// quoted is a path in a call.
var quoted = regexp.MustCompile(`"([^"]*)"`)

// puts lists, in order, what calls put into a directory: "NAME", or "fsync".
func puts(trace, dir string) (all []string) {
	for _, call := range putCall.FindAllStringSubmatch(trace, -1) {
		paths := quoted.FindAllStringSubmatch(call[2], -1)
		switch {
		case strings.HasSuffix(call[1], "sync"):
			all = append(all, "fsync")
		case len(paths) == 2:
			name := strings.TrimPrefix(paths[1][1], dir+string(filepath.Separator))
			if filepath.IsLocal(name) && !strings.Contains(name, ".tfdeps-") { // where packages are made
				all = append(all, name)
			}
		}
	}
	return all
}

// newSiteWithModule is a site, and a directory in which init has a package, the
// record of a module, that of a backend and a lock file to write.
func newSiteWithModule(t *testing.T, program string) (s *site, dir string) {
	t.Helper()
	s = newSite(t, program, 1)
	dir = s.directory(t)
	must.Write(t, filepath.Join(dir, "more.tf"), "terraform {\n  backend \"local\" {}\n}\n\nmodule \"m\" {\n  source = \"./m\"\n}\n")
	must.Write(t, filepath.Join(dir, "m/main.tf"), "")
	return s, dir
}

// TestInit_WritesInOrder checks the order of the calls that put files into their places.
func TestInit_WritesInOrder(t *testing.T) {
	t.Parallel()
	harness.RequireProgram(t, "strace")
	program := harness.Tfdeps(t)
	for name, test := range map[string]func(*testing.T, string){
		"the lock file is last":      theLockFileIsWrittenLast,
		"a kill before each of them": anInitIsKilledBeforeEachRename,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "a kill before each of them" {
				harness.SkipIfShort(t)
			}
			test(t, program)
		})
	}
}

// theLockFileIsWrittenLast, when all that it records is in its place, and only it is synced to the
// disk: a package that a crash of the machine has torn is found by its hash, but a torn lock file
// would be trusted.
func theLockFileIsWrittenLast(t *testing.T, program string) {
	s, dir := newSiteWithModule(t, program)
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

// anInitIsKilledBeforeEachRename kills an init right before each file is renamed to its place. The
// next init has the same result as one without a kill before it.
func anInitIsKilledBeforeEachRename(t *testing.T, program string) {
	s, dir := newSiteWithModule(t, program)
	places := renamedTo(s.trace(t, dir))
	if len(places) < 8 {
		t.Fatalf("%q are renamed to, and there should be more", places)
	}
	want, lock := listed(t, dir), harness.LockOf(t, dir)
	home := homeOf(s)
	for _, place := range places {
		for _, path := range []string{s.cache, filepath.Join(dir, ".terraform"), filepath.Join(dir, depsfile.FileName), filepath.Join(home, ".local"), filepath.Join(home, ".cache")} {
			must.Succeed(t, os.RemoveAll(path))
		}
		end := harness.Exec(t, dir, s.env, "strace", "-f", "-o", os.DevNull, "-P", place, "-e", "trace=rename,renameat,renameat2",
			"-e", "inject=rename,renameat,renameat2:signal=KILL", s.program, "init", "-no-color")
		if end.Code == 0 {
			t.Errorf("%s: nobody was killed\n%s", place, end)
		}
		s.init(t, dir)
		if got := listed(t, dir); !slices.Equal(got, want) || harness.LockOf(t, dir) != lock {
			t.Errorf("%s: there is\n%s\nand should be\n%s", place, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if left, _ := filepath.Glob(filepath.Join(s.cache, "providers/v1/.tfdeps-*")); len(left) > 0 {
			t.Errorf("%s: there is %q", place, left)
		}
		if end := harness.Exec(t, "", s.env, s.program, "cache", "verify"); end.Code != 0 || !strings.Contains(end.Said(), ": 1 sound\n") {
			t.Errorf("%s: cache verify: %s", place, end)
		}
	}
}

// renamedTo lists the paths that are renamed to and are the same in each run.
func renamedTo(trace string) (places []string) {
	for _, call := range putCall.FindAllStringSubmatch(trace, -1) {
		paths := quoted.FindAllStringSubmatch(call[2], -1)
		if len(paths) == 2 && !strings.Contains(paths[1][1], ".tfdeps-") && !slices.Contains(places, paths[1][1]) {
			places = append(places, paths[1][1])
		}
	}
	return places
}

// listed lists all files of a directory and below, with dots and all.
func listed(t *testing.T, dir string) (names []string) {
	t.Helper()
	must.Succeed(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		name, relErr := filepath.Rel(dir, path)
		names = append(names, name)
		return errors.Join(err, relErr)
	}))
	return names
}

// homeOf is the home directory of the programs that run there.
func homeOf(s *site) (home string) {
	for _, entry := range s.env {
		if value, ok := strings.CutPrefix(entry, "HOME="); ok {
			home = value
		}
	}
	return home
}
