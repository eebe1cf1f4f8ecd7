package servecmd

import (
	"os"
	"os/exec"

	"github.com/tfdeps/tfdeps/internal/subprocess"
)

// passedSignals are the signals that don't end this process while the command runs.
func passedSignals() []passedSignal {
	return []passedSignal{{os.Interrupt, subprocess.InForeground}}
}

func exitCode(err *exec.ExitError) int { return err.ExitCode() }
