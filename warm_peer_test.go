package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
)

// twoProgramsInOneDirectory runs init of this program and of the real
// terraform at the same time, where there is a lock file. The real one unpacks
// in place, so either may find the half of something; afterwards all is in
// order, for both.
func twoProgramsInOneDirectory(t *testing.T, program string) {
	peer := lookPeer(t)
	s := newSite(t, program, 4)
	config, err := s.registry.Env(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, config...)
	first := s.directory(t)
	s.init(t, first)
	lock := []byte(lockOf(t, first))
	for range 5 {
		dir := s.directory(t)
		writeFile(t, filepath.Join(dir, depsfile.FileName), lock)
		theirs := exec.CommandContext(t.Context(), peer, "init", "-no-color")
		theirs.Dir, theirs.Env = dir, s.env
		together := make(chan string)
		go func() {
			out, err := theirs.CombinedOutput()
			if err == nil {
				out = nil
			}
			together <- string(out)
		}()
		out, err := s.command(t, dir).CombinedOutput()
		if err != nil {
			t.Errorf("tfdeps: %v\n%s", err, out)
		}
		if said := <-together; said != "" {
			t.Logf("terraform: %s", said) // it says why; it may have been disturbed
		}
		s.init(t, dir, "-verify")
		again := exec.CommandContext(t.Context(), peer, "init", "-no-color")
		again.Dir, again.Env = dir, s.env
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("terraform afterwards: %v\n%s", err, out)
		}
		if got := lockOf(t, dir); got != string(lock) {
			t.Errorf("the lock file is\n%s", got)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".terraform", "providers", ".tfdeps-*")); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
	if out, err := (&exec.Cmd{Path: s.program, Args: []string{s.program, "cache", "verify"}, Env: s.env}).CombinedOutput(); err != nil {
		t.Errorf("cache verify: %v\n%s", err, out)
	}
}

// twoInitsInOneDirectory runs this program twice at the same time.
func twoInitsInOneDirectory(t *testing.T, program string) {
	s := newSite(t, program, 4)
	for range 3 {
		dir := s.directory(t)
		ended := make(chan error)
		for range 2 {
			go func() { ended <- s.command(t, dir).Run() }()
		}
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		before := s.registry.Requests("")
		s.init(t, dir, "-verify")
		if got := s.registry.Requests("") - before; got > 0 {
			t.Errorf("%d requests afterwards", got)
		}
		if err := os.RemoveAll(s.cache); err != nil {
			t.Fatal(err)
		}
	}
}
