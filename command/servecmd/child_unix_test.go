//go:build unix

package servecmd

import (
	"io"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
)

// TestRunCommand_HandsOnSignalsAndCodes has the command send a signal to this process, which it has to get back.
func TestRunCommand_HandsOnSignalsAndCodes(t *testing.T) {
	for script, want := range map[string]int{
		"exit 0": 0, "exit 3": 3, "kill -KILL $$": 128 + 9,
		`trap "exit 7" TERM; kill -TERM $PPID; while :; do sleep 0.01; done`:                                                         7,
		`n=0; trap 'n=$((n+1)); if [ $n = 2 ]; then exit 8; fi; kill -HUP $PPID' HUP; kill -HUP $PPID; while :; do sleep 0.01; done`: 8,
	} {
		m := &cli.Meta{Context: t.Context(), Stdout: io.Discard, Stderr: io.Discard}
		if code, err := runCommand(t.Context(), m, []string{"sh", "-c", script}, nil); code != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", script, code, err, want)
		}
	}
	if _, err := runCommand(t.Context(), &cli.Meta{}, []string{"/no/such/program"}, nil); err == nil {
		t.Error("a program that isn't there is no error")
	}
}
