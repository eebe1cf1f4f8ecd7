//go:build unix

package servecmd

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// passedSignals are those by which processes are asked to end.
func passedSignals() []passedSignal {
	return []passedSignal{{os.Interrupt, inForeground}, {syscall.SIGTERM, never}, {syscall.SIGHUP, never}}
}

// inForeground reports whether this process is one of those that the terminal sends its interrupts to: the command is
// another one.
func inForeground() bool {
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer terminal.Close()
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// exitCode is the code of a command that has failed; as in shells, that of one that a signal has ended is 128 more than
// the signal.
func exitCode(err *exec.ExitError) int {
	if status, ok := err.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return err.ExitCode()
}

func never() bool { return false }
