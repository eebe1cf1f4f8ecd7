// Package faults runs the program under faults, and many processes at
// once: kills, full disks, shared caches.
package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

func TestMain(m *testing.M) { harness.Main(m) }

// TestInit_BesideTerraformInOneDirectory runs init of tfdeps and of Terraform at the same time in a directory with
// a lock file. Terraform unpacks in place, so that either may find half a package; afterwards both
// programs accept the directory.
func TestInit_BesideTerraformInOneDirectory(t *testing.T) {
	t.Parallel()
	peer := harness.LookTerraform(t)
	s := newSite(t, 4)
	s.env = append(s.env, harness.Redirect(t, s.registry)...)
	first := s.directory(t)
	s.init(t, first)
	lock := []byte(harness.LockOf(t, first))
	for range 5 {
		dir := s.directory(t)
		must.Write(t, filepath.Join(dir, depsfile.FileName), lock)
		theirs := exec.CommandContext(t.Context(), peer, "init", "-no-color")
		theirs.Dir, theirs.Env = dir, s.env
		together := make(chan string)
		go func() {
			out, _ := theirs.CombinedOutput()
			together <- string(out)
		}()
		s.init(t, dir)
		t.Logf("terraform: %s", <-together) // it may have failed because of tfdeps
		s.init(t, dir, "-verify")
		harness.Run(t, dir, s.env, peer, "init", "-no-color")
		must.Equal(t, harness.LockOf(t, dir), string(lock))
		must.Len(t, must.Get(filepath.Glob(filepath.Join(dir, ".terraform/providers/.tfdeps-*")))(t), 0)
	}
	harness.Run(t, "", s.env, s.program, "cache", "verify")
}

// TestInit_TwiceInOneDirectory runs this program twice at the same time.
func TestInit_TwiceInOneDirectory(t *testing.T) {
	t.Parallel()
	s := newSite(t, 4)
	for range 3 {
		dir := s.directory(t)
		ended := make(chan error)
		for range 2 {
			go func() { ended <- s.command(t, dir).Run() }()
		}
		for range 2 {
			must.Succeed(t, <-ended)
		}
		before := s.registry.Requests("")
		s.init(t, dir, "-verify")
		must.Equal(t, s.registry.Requests(""), before)
		must.Succeed(t, os.RemoveAll(s.cache))
	}
}

// TestCache_ManyDirectoriesFetchOnce runs init -upgrade in one directory after the other, without lock
// files, as hosted services do: only the first run requests packages,
// and the lock files are the same.
func TestCache_ManyDirectoriesFetchOnce(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	s := newSite(t, 3)
	first := s.directory(t)
	s.init(t, first, "-upgrade")
	want, before := harness.LockOf(t, first), s.registry.Requests("")
	const directories = 10
	for range directories {
		dir := s.directory(t)
		s.init(t, dir, "-upgrade")
		must.Equal(t, harness.LockOf(t, dir), want)
	}
	// Each run still requests the versions.
	must.Equal(t, s.registry.Requests("")-before, directories*(1+3))
	for _, kind := range []string{"package", "sums", "signature", "archive"} {
		must.Equal(t, s.registry.Requests(kind), 3, kind)
	}
}

// site is a machine with its own home and shared cache, and a
// registry with the providers p0, p1 and so on.
type site struct {
	registry       *providertest.Registry
	providers      int
	program, cache string
	env            []string
}

func newSite(t *testing.T, providers int) *site {
	t.Helper()
	registry := harness.NewCountedRegistry(t, providers)
	cache := filepath.Join(t.TempDir(), "cache")
	env := harness.Env(t, "SSL_CERT_FILE="+harness.WriteCAs(t, []*providertest.Registry{registry}), "TFDEPS_CACHE_DIR="+cache, "TFDEPS_TERRAFORM_VERSION=1.15.9")
	return &site{registry: registry, providers: providers, program: harness.Tfdeps(t), cache: cache, env: env}
}

// directory makes a working directory that requires all providers.
func (s *site) directory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	harness.WriteRequirements(t, filepath.Join(dir, "main.tf"), s.providers, []*providertest.Registry{s.registry})
	return dir
}

// init runs tfdeps init.
func (s *site) init(t *testing.T, dir string, args ...string) {
	t.Helper()
	out, err := s.command(t, dir, args...).CombinedOutput()
	must.Succeed(t, err, string(out))
}

// forget removes the cache, the state of earlier runs in the home, and names in a directory.
func (s *site) forget(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, path := range []string{s.cache, filepath.Join(homeOf(s), ".local"), filepath.Join(homeOf(s), ".cache")} {
		must.Succeed(t, os.RemoveAll(path))
	}
	for _, name := range names {
		must.Succeed(t, os.RemoveAll(filepath.Join(dir, name)))
	}
}

func (s *site) nothingUnfinished(t *testing.T) {
	t.Helper()
	must.Len(t, must.Get(filepath.Glob(filepath.Join(s.cache, "providers/v1/.tfdeps-*")))(t), 0)
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

func (s *site) command(t *testing.T, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), s.program, append([]string{"init", "-no-color"}, args...)...)
	cmd.Dir, cmd.Env = dir, s.env
	return cmd
}

// crowd installs into many directories at once, each with its own process. Each package is fetched once, and
// all directories are right at the end.
func (s *site) crowd(t *testing.T, processes int) {
	t.Helper()
	dirs, running := make([]string, processes), make([]*exec.Cmd, processes)
	for i := range dirs {
		dirs[i] = s.directory(t)
		running[i] = s.command(t, dirs[i])
		running[i].Stderr = t.Output()
		must.Succeed(t, running[i].Start())
	}
	for _, cmd := range running {
		must.Succeed(t, cmd.Wait())
	}
	must.Equal(t, s.registry.Requests("archive"), 10)
	for _, dir := range dirs {
		must.Equal(t, harness.LockOf(t, dir), harness.LockOf(t, dirs[0]))
	}
	before := s.registry.Requests("")
	for _, dir := range dirs[:3] {
		s.init(t, dir, "-verify")
	}
	must.Equal(t, s.registry.Requests(""), before)
	harness.Run(t, "", s.env, s.program, "cache", "verify")
	s.nothingUnfinished(t)
}

// TestSoak_HoldsForAWhile runs the soak program briefly, so that it keeps working; it is meant to run longer.
func TestSoak_HoldsForAWhile(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	cmd := harness.GoCommand("run", "-C", harness.Path(t), "./testdata/soak", "-for=300ms", "-at-once=10")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), " installations of 5 providers, ") {
		t.Errorf("%v: %s", err, out)
	}
}
