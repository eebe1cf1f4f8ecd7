package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// become runs a program and waits for it. An interrupt reaches every process of
// a console, so there is none to hand on; we only have to survive it.
func become(path string, args []string, env Environment, streams Streams) (int, error) {
	signal.Ignore(os.Interrupt)
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, streams.In, streams.Out, streams.Err
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
