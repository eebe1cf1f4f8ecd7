// Package faults runs the program under faults, and many processes at
// once: kills, full disks, shared caches.
package faults

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
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
	must.Equal(t, s.registry.Requests("")-before, directories*3)
	for _, kind := range []string{"package", "sums", "signature", "archive"} {
		must.Equal(t, s.registry.Requests(kind), 3, kind)
	}
}

// TestCache_ProviderRunsWhileManyProcessesInstall: a provider runs while eight processes install, or fifty in a full run, each into its own
// directory. Each package is fetched once. The running program is the cache's own file, which can't be written to while it runs.
func TestCache_ProviderRunsWhileManyProcessesInstall(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	s := newSite(t, 10)
	name, content := "terraform-provider-p0"+harness.ExeSuffix(), must.Get(os.ReadFile(s.program))(t)
	s.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "p0", Version: "1.2.0",
		Archive: harness.ZipOf(t, []harness.ZipEntry{{Name: name, Mode: 0o755, Stored: true, Content: string(content)}})})
	harness.Run(t, "", s.env, s.program, "cache", "add", "tf.example.com/acme/p0")
	cached := filepath.Join(s.cache, "providers/v1/tf.example.com/acme/p0/1.2.0", getproviders.CurrentPlatform().String(), name)
	running := exec.CommandContext(t.Context(), cached, "serve", "-listen=127.0.0.1:0", t.TempDir())
	running.Env = s.env
	url := must.Get(harness.Serve(running))(t)
	t.Cleanup(func() { _ = harness.End(running) })
	before := must.Get(os.Stat(cached))(t)
	os.SameFile(before, before) // Windows looks for the file's number only now
	dirs := make([]string, peertest.Rounds(8, 50))
	inits := make([]*exec.Cmd, len(dirs))
	for i := range dirs {
		dirs[i] = s.directory(t)
		inits[i] = s.command(t, dirs[i])
		inits[i].Stderr = t.Output()
		must.Succeed(t, inits[i].Start())
	}
	for _, cmd := range inits {
		must.Succeed(t, cmd.Wait())
	}
	must.Equal(t, s.registry.Requests("archive"), 10)
	for _, dir := range dirs {
		must.Equal(t, harness.LockOf(t, dir), harness.LockOf(t, dirs[0]))
	}
	asked := s.registry.Requests("")
	for _, dir := range dirs[:3] {
		s.init(t, dir, "-verify")
	}
	must.Equal(t, s.registry.Requests(""), asked)
	harness.Run(t, "", s.env, s.program, "cache", "verify")
	s.nothingUnfinished(t)
	must.Get(fetch(http.DefaultClient, url[:strings.LastIndex(url, "/mirror")]+"/healthz"))(t)
	after, err := os.Stat(cached)
	if err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("its file was %v and is %v, %v", before, after, err)
	}
}

// site is a machine with its own home and shared cache, and a
// registry, tf.example.com, with the providers p0, p1 and so on.
type site struct {
	registry       *providertest.Registry
	providers      int
	program, cache string
	home           string
	env            []string
}

func newSite(t *testing.T, providers int) *site {
	t.Helper()
	registry := harness.NewCountedRegistry(t, providers)
	home, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
	env := harness.Env(t, append(harness.Redirect(t, registry, "tf.example.com"), "HOME="+home, "TFDEPS_CACHE_DIR="+cache, "TFDEPS_TERRAFORM_VERSION=1.15.9")...)
	return &site{registry, providers, harness.Tfdeps(t), cache, home, env}
}

// directory makes a working directory that requires all providers.
func (s *site) directory(t *testing.T) string {
	t.Helper()
	var all []int
	for i := range s.providers {
		all = append(all, i)
	}
	return harness.WorkDir(t, requiring(all...))
}

// requiring is a configuration that requires some of the providers.
func requiring(providers ...int) string {
	config := "terraform {\n  required_providers {\n"
	for _, i := range providers {
		config += fmt.Sprintf("    p%d = { source = \"tf.example.com/acme/p%[1]d\", version = \"~> 1.0\" }\n", i)
	}
	return config + "  }\n}\n"
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
	for _, path := range []string{s.cache, filepath.Join(s.home, ".local"), filepath.Join(s.home, ".cache")} {
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

func (s *site) command(t *testing.T, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), s.program, append([]string{"init", "-no-color"}, args...)...)
	cmd.Dir, cmd.Env = dir, s.env
	return cmd
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
