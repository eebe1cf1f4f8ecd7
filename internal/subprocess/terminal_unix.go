//go:build unix

package subprocess

import (
	"os"

	"golang.org/x/sys/unix"
)

// InForeground reports whether the terminal sends its interrupts to this process's group, which a program that
// exec.Command starts is in, too.
func InForeground() bool {
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer terminal.Close()
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
