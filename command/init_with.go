package command

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/configs/backend"
	"github.com/tfdeps/tfdeps/getproviders"
)

// handOver has the program that -with names initialize the backend, now that
// modules and providers are in place. What that program says goes to where our
// own words go.
//
// Only then can the state be asked for. If it needs more providers, they are
// installed; where the program stopped for want of them, it gets a second chance.
func (r *initRun) handOver() view.Problems {
	if r.opts.state.with == "" || !r.opts.backend {
		return nil
	}
	program, err := r.realProgram(r.opts.state.with)
	if err != nil {
		return view.Problems{view.NewError("Can't hand the backend over", err.Error())}
	}
	config, err := r.writeHandOverConfig()
	if err != nil {
		return view.Problems{view.NewError("Can't hand the backend over", "Writing a CLI configuration for it: "+err.Error())}
	}
	defer os.Remove(config)
	failed := r.runWith(program, config)
	more, err := r.pullRequirements(program, config)
	switch {
	case err != nil && failed == nil:
		return view.Problems{view.NewError("Error loading state", err.Error())}
	case err != nil || len(more) == 0:
		return withProblem(program, failed)
	}
	r.req = r.req.Merge(more)
	if problems := r.install(); problems.HasErrors() || failed == nil {
		return problems
	}
	return withProblem(program, r.runWith(program, config))
}

// runWith runs the program's own init. It fetches no modules, and finds the
// providers where they are.
func (r *initRun) runWith(program, config string) error {
	args := append([]string{"init", "-get=false"}, r.opts.state.passed...)
	if r.NoColor {
		args = append(args, "-no-color")
	}
	cmd := r.realCommand(program, config, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.Stdin, r.Stdout, r.Stderr
	return cmd.Run()
}

// pullRequirements reads the state through the program, as a stream, and
// returns the providers in it that aren't installed yet.
func (r *initRun) pullRequirements(program, config string) (getproviders.Requirements, error) {
	record, err := backend.Read(r.recordPath())
	if err != nil || record.IsLocal() || r.opts.stateFile != "" {
		return nil, err
	}
	cmd := r.realCommand(program, config, "state", "pull")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	required, readErr := configs.ReadStateRequirements(out, "from "+program, r.product)
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%s state pull: %w", program, err)
	}
	required = r.inheritState(required, r.req, r.product)
	for _, p := range r.req.Providers() {
		delete(required, p)
	}
	return required, readErr
}

// realCommand prepares a run of the program. An interrupt reaches it, too, and
// it has some time to give back locks.
func (r *initRun) realCommand(program, config string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(r.Context, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	cmd.Env = r.Env.With("TF_CLI_CONFIG_FILE="+config, "TF_CLI_ARGS=", "TF_CLI_ARGS_init=", "TF_PLUGIN_CACHE_DIR=",
		"TFDEPS_WITH=", argumentsVariable+"=", argumentsVariable+"_init="). // should it be a copy of ourselves after all
		With(r.backendToken()...)
	return cmd
}

func withProblem(program string, err error) view.Problems {
	if err == nil {
		return nil
	}
	return view.Problems{view.NewError("The backend isn't initialized", fmt.Sprintf(
		"%s init: %v. Its own messages say why. Modules and providers are in place.", filepath.Base(program), err))}
}
