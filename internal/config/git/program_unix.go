//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// ownGroup starts a command with its children in a process group, which ends with it. It is also a
// session without a terminal: an ssh in the background that reads from a terminal would be stopped,
// and wait forever.
func ownGroup(cmd *exec.Cmd) (stopAll func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	signal := func(s syscall.Signal) error {
		if cmd.Process == nil {
			return nil
		}
		return syscall.Kill(-cmd.Process.Pid, s)
	}
	// git removes its lock files after SIGTERM, but not after SIGKILL.
	cmd.Cancel = func() error { return signal(syscall.SIGTERM) }
	return func() { _ = signal(syscall.SIGKILL) }
}
