package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestPassThroughChangesNothing: arguments, streams and exit code of a command
// that isn't ours are the real program's, whatever name we were called by.
func TestPassThroughChangesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program that is run is a shell script")
	}
	tfdeps, real, bin := buildTfdeps(t), t.TempDir(), t.TempDir()
	const script = "#!/bin/sh\nprintf '<%s>' \"$@\"\ncat\necho \"$MARK\" >&2\nexit 42\n"
	for _, name := range []string{"terraform", "tofu1.12.6"} {
		if err := os.WriteFile(filepath.Join(real, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(tfdeps, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, program string
		before        []string
		env           string
	}{
		{"link", filepath.Join(bin, "terraform"), nil, ""},
		{"link with version", filepath.Join(bin, "tofu1.12.6"), nil, ""},
		{"option", tfdeps, []string{"-passthrough"}, ""},
		{"variable", tfdeps, nil, "TFDEPS_PASSTHROUGH=1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), tt.program, append(tt.before, "-chdir=no such", "plan", "", "a b", "-no-color")...)
			cmd.Env = peerEnv(t, "PATH="+bin+string(os.PathListSeparator)+real+string(os.PathListSeparator)+os.Getenv("PATH"),
				"TF_CLI_ARGS=-json", "MARK=on stderr", tt.env)
			cmd.Stdin = strings.NewReader("from stdin")
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 42 {
				t.Errorf("exit: %v", err)
			}
			if got, want := string(out), "<-chdir=no such><plan><><a b><-no-color>from stdin"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if got := stderr.String(); got != "on stderr\n" {
				t.Errorf("stderr is %q", got)
			}
		})
	}
}
