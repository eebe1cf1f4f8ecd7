package servecmd

import (
	"os"
	"os/exec"
)

// passedSignals are the signals that don't end this process while the command runs. A console sends its interrupts to all of
// its processes, also to the command.
func passedSignals() []passedSignal {
	return []passedSignal{{os.Interrupt, func() bool { return true }}}
}

func exitCode(err *exec.ExitError) int { return err.ExitCode() }
