package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestInit_ReadsNothingAgain counts the opened files if nothing changed, after
// .terraform was deleted, and in a new directory. Receipts of the cache are only read for packages that
// the directory's own receipts don't have.
func TestInit_ReadsNothingAgain(t *testing.T) {
	t.Parallel()
	harness.RequireProgram(t, "strace")
	s := newSite(t, 3)
	dir := s.directory(t)
	s.init(t, dir)
	for _, args := range [][]string{{}, {"-check"}, {"-frozen"}} {
		trace := s.trace(t, dir, args...)
		state := stateOpened.FindAllString(trace, -1)
		want := 2 // the directory's receipts, and its last use of packages
		if slices.Contains(args, "-check") {
			want = 1
		}
		must.Equal(t, len(state), want, args, strings.Join(state, "\n"))
		must.Equal(t, strings.Count(trace, "/terraform-provider-"), 3, args)
	}
	must.Succeed(t, os.RemoveAll(filepath.Join(dir, ".terraform")))
	before, fresh := s.registry.Requests(""), s.directory(t)
	must.Write(t, filepath.Join(fresh, depsfile.FileName), harness.LockOf(t, dir))
	for _, dir := range []string{dir, fresh} {
		must.Len(t, packageRead.FindAllString(s.trace(t, dir), -1), 0, dir)
	}
	must.Equal(t, s.registry.Requests(""), before)
	must.Equal(t, packageRead.MatchString(s.trace(t, fresh, "-verify")), true)
	must.Succeed(t, os.RemoveAll(filepath.Join(dir, ".terraform")))
	must.Equal(t, packageRead.MatchString(s.trace(t, dir, "-verify=ctime")), s.hardLinks(t, dir))
}

// TestInit_CopiesByTheKernel checks which calls copy a package.
func TestInit_CopiesByTheKernel(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	harness.RequireProgram(t, "strace")
	s := newSite(t, 2)
	s.init(t, s.directory(t))
	trace := s.trace(t, s.directory(t), "-link=copy")
	calls := packageRead.FindAllString(trace, -1)
	byKernel := func(call string) bool { return strings.Contains(call, "copy_file_range(") }
	if !slices.ContainsFunc(calls, byKernel) {
		t.Fatalf("copy_file_range isn't called, but\n%s", strings.Join(calls, "\n"))
	}
	if failed := slices.IndexFunc(calls, func(call string) bool { return byKernel(call) && strings.Contains(call, ") = -1 ") }); failed >= 0 {
		t.Skipf("the kernel can't copy files here: %s", calls[failed])
	}
	must.Len(t, slices.DeleteFunc(calls, byKernel), 0)
}

// hardLinks reports whether the packages of a directory are the cache's files.
func (s *site) hardLinks(t *testing.T, dir string) bool {
	t.Helper()
	for _, path := range append(packagesBelow(t, filepath.Join(dir, ".terraform")), packagesBelow(t, s.cache)...) {
		if stat, ok := must.Get(os.Stat(path))(t).Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
			return true
		}
	}
	return false
}

// stateOpened matches a call that opens a file of the user's state.
var stateOpened = regexp.MustCompile(`(?m)^\d+ +openat\([^\n]*/tfdeps/(receipts|uses|last-uses)/[0-9a-f]{64}".*$`)

// packageRead matches a call that reads a provider's executable. With strace -y the
// path follows the file descriptor. Clones share blocks and read nothing.
var packageRead = regexp.MustCompile(`(?m)^\d+ +(read|pread64|readv|copy_file_range|sendfile|splice|mmap)\([^\n]*/terraform-provider-.*$`)

// trace runs init under strace and returns what that wrote.
func (s *site) trace(t *testing.T, dir string, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace")
	end := harness.Exec(t, dir, s.env, append([]string{"strace", "-f", "-y", "-o", file, s.program, "init", "-no-color"}, args...)...)
	if strings.Contains(end.Said(), "ptrace") {
		t.Skipf("strace may not trace here: %s", end)
	}
	if end.Code != 0 {
		t.Fatal(end)
	}
	return harness.ReadText(t, file)
}

// TestCache_ProviderRunsWhileManyProcessesInstall: a provider runs while eight processes install, or fifty in a full run. The running
// program is the cache's own file, which can't be written to while it runs.
func TestCache_ProviderRunsWhileManyProcessesInstall(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	content := must.Get(os.ReadFile(sleep))(t)
	s := newSite(t, 10)
	s.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "p0", Version: "1.2.0",
		Archive: harness.ZipOf(t, []harness.ZipEntry{{Name: "terraform-provider-p0", Mode: 0o755, Content: string(content)}})})
	harness.Run(t, "", s.env, s.program, "cache", "add", s.registry.Host()+"/acme/p0")
	cached := filepath.Join(s.cache, "providers/v1", s.registry.Host(), "acme/p0/1.2.0", getproviders.CurrentPlatform().String(), "terraform-provider-p0")
	running := exec.CommandContext(t.Context(), cached, "600")
	must.Succeed(t, running.Start())
	t.Cleanup(func() { _ = running.Process.Kill(); _ = running.Wait() })
	before := must.Get(os.Stat(cached))(t)
	s.crowd(t, peertest.Rounds(8, 50))
	must.Succeed(t, running.Process.Signal(syscall.Signal(0)))
	after, err := os.Stat(cached)
	if err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("its file was %v and is %v, %v", before, after, err)
	}
}
