//go:build unix

package command

import (
	"fmt"
	"syscall"

	"github.com/tfdeps/tfdeps/command/cli"
)

// become replaces this process by a program, which so keeps its streams, its
// process ID and its parent.
func become(path string, args []string, env cli.Environment, _ streams) (int, error) {
	err := syscall.Exec(path, append([]string{path}, args...), env)
	return 1, fmt.Errorf("running %s: %w", path, err)
}
