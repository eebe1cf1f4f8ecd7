package providertest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// watched is a test that goes on when it should end.
type watched struct{ said string }

func (*watched) Helper() {}
func (w *watched) Fatalf(f string, args ...any) {
	w.said += "failed: " + fmt.Sprintf(f, args...) + "\n"
}
func (w *watched) Skipf(f string, args ...any) {
	w.said += "skipped: " + fmt.Sprintf(f, args...) + "\n"
}

func TestLookProgram(t *testing.T) {
	itself, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
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
			if path := providertest.LookProgram(&w, test.names...); path != test.path || w.said != test.said {
				t.Errorf("got %q, and it said %q", path, w.said)
			}
		})
	}
}

// Another terraform can be compared with than the one on PATH, wherever the
// test runs it.
func TestLookProgram_PeerByVariable(t *testing.T) {
	dir := t.TempDir()
	given := filepath.Join(dir, "other.exe")
	if err := os.WriteFile(given, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Chdir(dir)
	for _, value := range []string{given, "." + string(filepath.Separator) + "other.exe"} {
		t.Setenv("TFDEPS_PEER_TERRAFORM", value)
		var w watched
		if path := providertest.LookProgram(&w, "terraform"); path != given || w.said != "" {
			t.Errorf("%s: got %q, and it said %q", value, path, w.said)
		}
	}
	t.Setenv("TFDEPS_PEER_TERRAFORM", filepath.Join(dir, "missing"))
	var w watched
	if path := providertest.LookProgram(&w, "terraform"); path != "" || !strings.HasPrefix(w.said, "failed: TFDEPS_PEER_TERRAFORM names no program: ") {
		t.Errorf("a program that isn't there: got %q, and it said %q", path, w.said)
	}
}
