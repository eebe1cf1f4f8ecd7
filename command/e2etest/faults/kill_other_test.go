//go:build !linux

package faults

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
)

// places lists moments within the time that an init takes.
func (s *site) places(t *testing.T, dir string, args ...string) (all []string) {
	t.Helper()
	begun := time.Now()
	s.init(t, dir, args...)
	whole := time.Since(begun)
	for i := range time.Duration(10) {
		all = append(all, (whole * (i + 1) / 12).String())
	}
	return all
}

// killAt runs init, and kills it at a moment, if it hasn't ended by then.
func (s *site) killAt(t *testing.T, dir, place string, args ...string) {
	t.Helper()
	after, err := time.ParseDuration(place)
	if err != nil {
		t.Fatal(err)
	}
	killAfter(t, after, dir, s.env, append([]string{s.program, "init", "-no-color"}, args...))
}

func killAfter(t *testing.T, after time.Duration, dir string, env, line []string) (killed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir, cmd.Env = dir, env
	return cmd.Run() != nil && ctx.Err() != nil
}

// onlyKills says that no other fault can be made.
const onlyKills = true

// inject runs a command, and kills it at the nth moment, earlier ones if it has ended by then.
func (s *site) inject(t *testing.T, _ string, n int, dir string, env, line []string) (end harness.Ended, struck bool) {
	t.Helper()
	for after := time.Duration(n) * 200 * time.Millisecond; after > time.Millisecond && !struck; after /= 2 {
		struck = killAfter(t, after, dir, env, line)
	}
	return harness.Ended{}, struck
}

// killedAt starts a server that is killed at the nth moment, and returns its URL.
func killedAt(_ *testing.T, n int, cmd *exec.Cmd) (url string, err error) {
	url, err = harness.Serve(cmd)
	if n > 0 && err == nil {
		time.AfterFunc(time.Duration(n-1)*50*time.Millisecond, func() { _ = cmd.Process.Kill() })
	}
	return url, err
}

// wasKilled reports whether a server was killed before it had answered: nothing else makes requests fail.
func wasKilled(err error) bool { return err != nil }
