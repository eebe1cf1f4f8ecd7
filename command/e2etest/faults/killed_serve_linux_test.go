package faults

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// TestServe_IsWholeWheneverItIsKilled kills serve at the first rename of a file or a
// record, in another run at the second, and so on. Then the next server of the same directory, and its
// clients, work.
func TestServe_IsWholeWheneverItIsKilled(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	harness.RequireProgram(t, "strace")
	s := newSite(t, 1)
	p := getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "p0"}
	version := must.Get(getproviders.ParseVersion("1.1.0"))(t)
	paths := []string{"index.json", p.PackedName(version, getproviders.CurrentPlatform())}
	want, err := s.serve(t, t.TempDir(), nil, paths)
	if err != nil || !strings.Contains(want, "PK") {
		t.Fatalf("%v: %q", err, want)
	}
	killed := 0
	// strace counts the calls of each thread by itself, and which one renames a file varies.
	for missed, most := 0, peertest.Rounds(3, 6); missed < most; {
		n := killed + 1
		dir := t.TempDir()
		// With -D, the process that gets signals is the server, and not strace.
		got, err := s.serve(t, dir, []string{"strace", "-D", "-f", "-o", os.DevNull, "-e", "trace=" + changingCalls,
			"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", changingCalls, n)}, paths)
		exit, ended := errors.AsType[*exec.ExitError](err)
		struck := ended && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
		if !struck && (err != nil || got != want) {
			t.Errorf("%d: nothing was killed, and there is %v", n, err)
		}
		must.Equal(t, must.Get(s.serve(t, dir, nil, paths))(t), want, n)
		if left, _ := filepath.Glob(filepath.Join(dir, "bucket/.tfdeps-*")); len(left) > 1 { // a lock file stays
			t.Errorf("after a kill at rename %d there is %q", n, left)
		}
		if struck {
			killed++
		} else {
			missed++
		}
	}
	if killed < 3 { // a list, a description and an archive
		t.Errorf("%d were killed, so this test shows little", killed)
	}
}

// serve starts a server of the directory "bucket", requests paths, and ends it. It
// returns all answers.
func (s *site) serve(t *testing.T, dir string, before, paths []string) (answers string, err error) {
	t.Helper()
	line := append(before, s.program, "serve", "-listen=127.0.0.1:0", "-allow-network=127.0.0.0/8", "-allow-network=::1/128", "bucket")
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	cmd.Dir, cmd.Env = dir, s.env
	base, err := harness.Serve(cmd)
	if err == nil {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		var all strings.Builder
		for _, path := range paths {
			var body []byte
			body, err = fetch(client, base+s.registry.Host()+"/acme/p0/"+path)
			if err != nil {
				break
			}
			all.Write(body)
		}
		answers = all.String()
		for stored := []byte(nil); err == nil && !bytes.Contains(stored, []byte("h1:")); { // clients get an archive before it is stored
			time.Sleep(time.Millisecond)
			stored, err = fetch(client, base+s.registry.Host()+"/acme/p0/1.1.0.json")
		}
	}
	_ = cmd.Process.Signal(os.Interrupt) // it may have been killed
	return answers, errors.Join(err, cmd.Wait())
}
