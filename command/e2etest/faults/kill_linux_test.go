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
)

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

// injects reports whether a fault can be made.
func injects(string) bool { return true }

// inject runs a command, whose nth rename has a fault, and reports whether there was such a call.
func (s *site) inject(t *testing.T, fault string, n int, dir string, env, line []string) (end harness.Ended, struck bool) {
	t.Helper()
	end = harness.Exec(t, dir, env, append([]string{"strace", "-f", "-o", s.cache + "-trace", "-e", "trace=" + changingCalls,
		"-e", fmt.Sprintf("inject=%s:%s:when=%d", changingCalls, fault, n)}, line...)...)
	trace := harness.ReadText(t, s.cache+"-trace")
	return end, strings.Contains(trace, "INJECTED") || strings.Contains(trace, "killed by SIGKILL")
}

// killedAt starts a server that is killed at its nth rename, and returns its URL. With -D, the process that gets signals is the server,
// and not strace.
func killedAt(n int, cmd *exec.Cmd) (url string, err error) {
	if n > 0 {
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
