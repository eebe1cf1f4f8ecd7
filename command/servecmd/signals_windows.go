package servecmd

import (
	"os"
	"os/exec"
)

// passedSignals are those that don't end this process while the command runs. A console sends its interrupts to all of
// its processes.
func passedSignals() []passedSignal {
	return []passedSignal{{os.Interrupt, func() bool { return true }}}
}

func exitCode(err *exec.ExitError) int { return err.ExitCode() }
