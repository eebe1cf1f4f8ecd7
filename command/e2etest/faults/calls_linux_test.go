package faults

import (
	"errors"
	"fmt"
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
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestInit_SystemCalls looks at the calls of an init by strace, or has them fail.
func TestInit_SystemCalls(t *testing.T) {
	t.Parallel()
	harness.RequireProgram(t, "strace")
	for name, test := range map[string]func(*testing.T){"writes the lock file last": writesTheLockFileLast, "reads nothing again": readsNothingAgain,
		"copies by the kernel": copiesByTheKernel, "files can't be read": filesCantBeRead, "disk is slow": diskIsSlow} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// writesTheLockFileLast: the lock file is renamed after everything that it records, and only it is synced to the
// disk, because a package that is torn by a crash of the machine is found by its hash, but a torn lock file
// would be trusted.
func writesTheLockFileLast(t *testing.T) {
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

// readsNothingAgain counts the opened files if nothing changed, after
// .terraform was deleted, and in a new directory. Receipts of the cache are only read for packages that
// the directory's own receipts don't have.
func readsNothingAgain(t *testing.T) {
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

// copiesByTheKernel checks which calls copy a package.
func copiesByTheKernel(t *testing.T) {
	harness.SkipIfShort(t)
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

// filesCantBeRead makes each read of one of the files fail, as on a failing disk. The error names
// the file, and init works without files that only save time.
func filesCantBeRead(t *testing.T) {
	harness.SkipIfShort(t)
	s, dir := newSiteWithModule(t)
	s.init(t, dir)
	binary := packagesBelow(t, s.cache)
	must.Len(t, binary, 1)
	lock := harness.LockOf(t, dir)
	state, err := filepath.Glob(filepath.Join(s.home, ".local/state/tfdeps/*"))
	if err != nil || len(state) == 0 {
		t.Fatalf("no state: %v", err)
	}
	for _, c := range []struct {
		file  string
		fails bool
	}{
		{filepath.Join(dir, "main.tf"), true}, {filepath.Join(dir, "m/main.tf"), true}, {filepath.Join(dir, depsfile.FileName), true},
		{filepath.Join(dir, ".terraform/modules/modules.json"), true}, {binary[0], false}, {state[0], false},
	} {
		must.Succeed(t, os.RemoveAll(filepath.Join(dir, ".terraform/providers")))
		args := []string{"-f", "-o", s.cache + "-trace", "-P", c.file, "-e", "trace=read,pread64,copy_file_range,sendfile", "-e", "inject=read,pread64,copy_file_range,sendfile:error=EIO", s.program, "init", "-no-color"}
		if c.file == binary[0] {
			args = append(args, "-verify")
		}
		end := harness.Exec(t, dir, s.env, append([]string{"strace"}, args...)...)
		said := harness.OneLine(end.Said())
		switch trace := harness.ReadText(t, s.cache+"-trace"); {
		case !strings.Contains(trace, "INJECTED") && c.file != state[0]: // not all of the state is read each time
			t.Errorf("%s: it was never read", c.file)
		case strings.Contains(said, "panic"), (end.Code != 0) != c.fails:
			t.Errorf("%s: %s", c.file, end)
		case c.fails && (!strings.Contains(said, "input/output error") || !strings.Contains(said, filepath.Base(c.file))):
			t.Errorf("%s: the message says neither what failed nor for which file:\n%s", c.file, end)
		}
		s.init(t, dir, "-verify")
		must.Equal(t, harness.LockOf(t, dir), lock, c.file)
	}
}

// diskIsSlow delays all calls that change directories by 20 ms, for two processes with one cache:
// each waits for the other, and neither gives up or fetches a package twice.
func diskIsSlow(t *testing.T) {
	harness.SkipIfShort(t)
	s := newSite(t, 2)
	first, second := s.directory(t), s.directory(t)
	const slow = "rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,fsync,fdatasync"
	var running []*exec.Cmd
	for _, dir := range []string{first, second} {
		cmd := exec.CommandContext(t.Context(), "strace", "-f", "-o", os.DevNull, "-e", "trace="+slow, "-e", "inject="+slow+":delay_enter=20000", s.program, "init", "-no-color")
		cmd.Dir, cmd.Env, cmd.Stderr = dir, s.env, t.Output()
		must.Succeed(t, cmd.Start())
		running = append(running, cmd)
	}
	for _, cmd := range running {
		must.Succeed(t, cmd.Wait())
	}
	must.Equal(t, s.registry.Requests("archive"), 2)
	must.Equal(t, harness.LockOf(t, first), harness.LockOf(t, second))
	s.init(t, first, "-verify")
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

// changingCalls are the system calls that publish files.
const changingCalls = "rename,renameat,renameat2"

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

// places lists what an init renames files to in each run.
func (s *site) places(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	harness.RequireProgram(t, "strace")
	return renamedTo(s.trace(t, dir, args...))
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

// onlyKills says that no other fault can be made.
const onlyKills = false

// inject runs a command, whose nth rename has a fault, and reports whether there was such a call.
func (s *site) inject(t *testing.T, fault string, n int, dir string, env, line []string) (end harness.Ended, struck bool) {
	t.Helper()
	harness.RequireProgram(t, "strace")
	end = harness.Exec(t, dir, env, append([]string{"strace", "-f", "-o", s.cache + "-trace", "-e", "trace=" + changingCalls,
		"-e", fmt.Sprintf("inject=%s:%s:when=%d", changingCalls, fault, n)}, line...)...)
	trace := harness.ReadText(t, s.cache+"-trace")
	return end, strings.Contains(trace, "INJECTED") || strings.Contains(trace, "killed by SIGKILL")
}

// killedAt starts a server that is killed at its nth rename, and returns its URL. With -D, the process that gets signals is the server,
// and not strace.
func killedAt(t *testing.T, n int, cmd *exec.Cmd) (url string, err error) {
	t.Helper()
	if n > 0 {
		harness.RequireProgram(t, "strace")
		strace := exec.Command("strace", append([]string{"-D", "-f", "-o", os.DevNull, "-e", "trace=" + changingCalls,
			"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", changingCalls, n)}, cmd.Args...)...)
		cmd.Path, cmd.Args = strace.Path, strace.Args
	}
	return harness.Serve(cmd)
}

func wasKilled(err error) bool {
	exit, ended := errors.AsType[*exec.ExitError](err)
	return ended && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
}
