package peertest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// watched is a test that continues where it should end.
type watched struct{ said string }

func (*watched) Helper() {}
func (w *watched) Fatalf(f string, args ...any) {
	w.said += "failed: " + fmt.Sprintf(f, args...) + "\n"
}
func (w *watched) Skipf(f string, args ...any) {
	w.said += "skipped: " + fmt.Sprintf(f, args...) + "\n"
}

func TestLookProgram(t *testing.T) {
	itself := must.Get(os.Executable())(t)
	const missing = "no-such-program-of-tfdeps"
	for _, test := range []struct {
		name, required string
		names          []string
		path, said     string
	}{
		{"found", "1", []string{itself}, itself, ""},
		{"found by another name", "1", []string{missing, itself}, itself, ""},
		{"missing", "", []string{missing}, "", "skipped: " + missing + " is not on PATH\n"},
		{"missing, and required", "1", []string{missing, missing + "2"}, "",
			"failed: TFDEPS_REQUIRE_PEERS=1, and " + missing + " is not on PATH\nskipped: " + missing + " is not on PATH\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("TFDEPS_REQUIRE_PEERS", test.required)
			var w watched
			must.Equal(t, LookProgram(&w, test.names...), test.path)
			must.Equal(t, w.said, test.said)
		})
	}
}

// Tests can compare with another terraform than the one on PATH.
func TestLookProgram_PeerByVariable(t *testing.T) {
	setShort(t, false)
	dir := t.TempDir()
	given := filepath.Join(dir, "other.exe")
	must.Succeed(t, os.WriteFile(given, []byte("#!/bin/sh\n"), 0o755))
	t.Setenv("PATH", dir)
	t.Chdir(dir)
	for _, value := range []string{given, "." + string(filepath.Separator) + "other.exe"} {
		t.Setenv("TFDEPS_PEER_TERRAFORM", value)
		var w watched
		must.Equal(t, LookProgram(&w, "terraform"), given, value)
		must.Equal(t, w.said, "", value)
	}
	t.Setenv("TFDEPS_PEER_TERRAFORM", filepath.Join(dir, "missing"))
	var w watched
	if path := LookProgram(&w, "terraform"); path != "" || !strings.HasPrefix(w.said, "failed: TFDEPS_PEER_TERRAFORM names no program: ") {
		t.Errorf("a program that isn't there: got %q, and it said %q", path, w.said)
	}
}

// Of many cases always the same tenth runs, unless all are selected.
func TestPeerCase_RunsATenth(t *testing.T) {
	run := func() (names []string) {
		for i := range 1000 {
			name, w := fmt.Sprintf("TestX/case_%d", i), watched{}
			if PeerCase(&w, name); w.said == "" {
				names = append(names, name)
			}
		}
		return names
	}
	t.Setenv("TFDEPS_TEST_PEERS", "")
	some := run()
	if len(some) < 70 || len(some) > 130 || !slices.Equal(run(), some) {
		t.Errorf("%d of 1000 cases run, then %d, want about 100 and the same", len(some), len(run()))
	}
	t.Setenv("TFDEPS_TEST_PEERS", "all")
	must.Len(t, run(), 1000)

	ran := 0
	for _, third := range []string{"0/3", "1/3", "2/3"} {
		t.Setenv("TFDEPS_TEST_PEERS", third)
		names := run()
		must.Equal(t, len(names) > 250 && len(names) < 420, true, third, len(names))
		ran += len(names)
	}
	must.Equal(t, ran, 1000)

	for _, wrong := range []string{"al", "3/3", "1/0", "1"} {
		t.Setenv("TFDEPS_TEST_PEERS", wrong)
		w := watched{}
		PeerCase(&w, "TestX/case")
		must.Contain(t, w.said, "failed: TFDEPS_TEST_PEERS is \""+wrong+"\"", wrong)
	}
}

// setShort sets -short for the rest of a test.
func setShort(t *testing.T, short bool) {
	t.Helper()
	before := testing.Short()
	must.Succeed(t, flag.Set("test.short", fmt.Sprint(short)))
	t.Cleanup(func() { _ = flag.Set("test.short", fmt.Sprint(before)) })
}

func TestFirstIfShort_LeavesOutTheRest(t *testing.T) {
	for short, want := range map[bool]int{true: 2, false: 3} {
		setShort(t, short)
		if got := FirstIfShort(2, "a", "b", "c"); len(got) != want || got[1] != "b" || len(FirstIfShort(2, 1)) != 1 {
			t.Errorf("short is %t: %q", short, got)
		}
	}
}

// A short test doesn't start the programs that it compares with.
func TestLookProgram_ShortTestsDoWithoutPeers(t *testing.T) {
	setShort(t, true)
	for _, name := range []string{"terraform", "tofu"} {
		var w watched
		must.Equal(t, LookProgram(&w, name), "")
		must.Equal(t, w.said, "skipped: a short test doesn't run "+name+"\n")
	}
}
