//go:build unix

package servecmd

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/tfdeps/tfdeps/internal/subprocess"
)

// passedSignals are the signals that ask processes to end.
func passedSignals() []passedSignal {
	return []passedSignal{{os.Interrupt, subprocess.InForeground}, {syscall.SIGTERM, never}, {syscall.SIGHUP, never}}
}

// exitCode returns the exit code of a failed command, or as in shells 128 and the number of the signal that has ended it.
func exitCode(err *exec.ExitError) int {
	if status, ok := err.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return err.ExitCode()
}

func never() bool { return false }
