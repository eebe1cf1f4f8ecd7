//go:build unix

package servecmd

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// passedSignals are the signals that ask processes to end.
func passedSignals() []passedSignal {
	return []passedSignal{{os.Interrupt, inForeground}, {syscall.SIGTERM, never}, {syscall.SIGHUP, never}}
}

// inForeground reports whether the terminal sends its interrupts to this process's group, which the command is
// in, too.
func inForeground() bool {
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer terminal.Close()
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// exitCode returns the exit code of a failed command, or as in shells 128 and the number of the signal that has ended it.
func exitCode(err *exec.ExitError) int {
	if status, ok := err.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return err.ExitCode()
}

func never() bool { return false }
