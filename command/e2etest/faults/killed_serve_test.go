package faults

import (
	"bytes"
	"errors"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// TestServe_IsWholeWheneverItIsKilled kills serve at the first rename of a file or a
// record, in another run at the second, and so on; on other systems than Linux at some moments. Then the next server of the same directory, and its
// clients, work.
func TestServe_IsWholeWheneverItIsKilled(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	s := newSite(t, 1)
	paths := []string{"index.json", "terraform-provider-p0_1.1.0_" + getproviders.CurrentPlatform().String() + ".zip"}
	want, err := s.serve(t, t.TempDir(), 0, paths)
	if err != nil || !strings.Contains(want, "PK") {
		t.Fatalf("%v: %q", err, want)
	}
	killed := 0
	// strace counts the calls of each thread by itself, and which one renames a file varies.
	for missed, most := 0, peertest.Rounds(3, 6); missed < most && killed < 20; {
		n := killed + 1
		dir := t.TempDir()
		got, err := s.serve(t, dir, n, paths)
		struck := wasKilled(err)
		if !struck && (err != nil || got != want) {
			t.Errorf("%d: nothing was killed, and there is %v", n, err)
		}
		must.Equal(t, must.Get(s.serve(t, dir, 0, paths))(t), want, n)
		// A lock file stays. Where servers end by being killed, more may stay until it is old.
		if left, _ := filepath.Glob(filepath.Join(dir, "bucket/.tfdeps-*")); len(left) > 1 && !onlyKills {
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

// serve starts a server of the directory "bucket", requests paths, and ends it, which is killed at a moment if n isn't 0. It
// returns all answers.
func (s *site) serve(t *testing.T, dir string, n int, paths []string) (answers string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.program, "serve", "-listen=127.0.0.1:0", "-allow-network=127.0.0.0/8", "-allow-network=::1/128", "bucket")
	cmd.Dir, cmd.Env = dir, s.env
	base, err := killedAt(t, n, cmd)
	if err == nil {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		var all strings.Builder
		for _, path := range paths {
			var body []byte
			body, err = fetch(client, base+"tf.example.com/acme/p0/"+path)
			if err != nil {
				break
			}
			all.Write(body)
		}
		answers = all.String()
		for stored := []byte(nil); err == nil && !bytes.Contains(stored, []byte("h1:")); { // clients get an archive before it is stored
			time.Sleep(time.Millisecond)
			stored, err = fetch(client, base+"tf.example.com/acme/p0/1.1.0.json")
		}
	}
	return answers, errors.Join(err, harness.End(cmd))
}
