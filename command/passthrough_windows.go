package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"github.com/tfdeps/tfdeps/command/cli"
)

// become runs a program and waits for it. The console sends an interrupt to all of its
// processes, so this process ignores it, and needn't pass it on.
func become(path string, args []string, env cli.Environment, to streams) (int, error) {
	signal.Ignore(os.Interrupt)
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, to.in, to.out, to.err
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	default:
		return 1, fmt.Errorf("running %s: %w", path, err)
	}
}
