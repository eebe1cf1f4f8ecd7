//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a command and what it starts a group of its own, which ends
// with it. It is a session, too, so that it has no terminal: an ssh in the
// background that asked there would be stopped, and wait for ever.
func ownGroup(cmd *exec.Cmd) (stopAll func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	signal := func(s syscall.Signal) error {
		if cmd.Process == nil {
			return nil
		}
		return syscall.Kill(-cmd.Process.Pid, s)
	}
	// A git that is asked to end removes its lock files, one that is killed doesn't.
	cmd.Cancel = func() error { return signal(syscall.SIGTERM) }
	return func() { _ = signal(syscall.SIGKILL) }
}
