package initcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/subprocess"
)

// handOver runs the program of -with, which initializes the backend, after
// modules and providers are installed. The program's output goes to the same
// streams as that of tfdeps.
//
// Only then can the state be read. If it needs more providers, handOver
// installs them, and runs the program again if it failed without them.
func handOver(r request, dir *workdir.Dir, required getproviders.Requirements) bool {
	if r.opts.backend.with == "" || !r.opts.backend.initialize {
		return true
	}
	program, err := products.Program(r.Meta, r.opts.backend.with, nil)
	if err != nil {
		return r.Log.Fail("other_backend", "Can't initialize the backend", "%v", err)
	}
	config := ""
	temporary, err := scratch.Temporary()
	if err == nil {
		defer temporary.Remove()
		config = filepath.Join(temporary.Path, "init.tfrc")
		err = writeHandOverConfig(r, config)
	}
	if err != nil {
		return r.Log.Fail("other_backend", "Can't initialize the backend", "Writing a CLI configuration for it: %v", err)
	}
	env := r.Meta.Env.With("TF_CLI_CONFIG_FILE="+config, "TF_CLI_ARGS=", "TF_CLI_ARGS_init=", "TF_PLUGIN_CACHE_DIR=",
		"TFDEPS_WITH=", cli.ArgumentsVariable+"=", cli.ArgumentsVariable+"_init="). // the program may be a copy of tfdeps
		With(backendToken(r, dir)...)
	failed := initWith(r, program, env)
	more, err := pullRequirements(r, program, env, required)
	switch {
	case err != nil && failed == nil:
		return r.Log.Add(workdir.StateProblem(err))
	case err == nil && len(more) > 0:
		before := r.Log.All
		if ok := installProviders(r, dir, required.Merge(more)); !ok || failed == nil {
			return ok
		}
		r.Log.All = before
		failed = initWith(r, program, env)
	}
	return failed == nil || r.Log.Fail("backend_record", "The backend isn't initialized",
		"%s init: %v. Its own messages say why. Modules and providers are in place.", filepath.Base(program), failed)
}

// initWith runs the program's own init, which fetches no modules and uses the
// installed providers.
func initWith(r request, program string, env []string) error {
	args := append([]string{"init", "-get=false"}, r.opts.backend.passed...)
	for _, config := range r.opts.backend.config {
		args = append(args, "-backend-config="+config)
	}
	if r.Meta.NoColor {
		args = append(args, "-no-color")
	}
	cmd := programCommand(r, program, env, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.Meta.Stdin, r.Meta.Stdout, r.Meta.Stderr
	return cmd.Run()
}

// pullRequirements reads the state through the program, as a stream, and
// returns the providers in it that aren't installed yet.
func pullRequirements(r request, program string, env []string, installed getproviders.Requirements) (getproviders.Requirements, error) {
	record, err := backend.Read(nil, workdir.RecordPath(r.Meta.Env), r.Product)
	if err != nil || r.opts.stateFile != "" {
		return nil, err
	}
	if _, known, err := workdir.ReadState(r.Meta, r.Product, "", record); known {
		return nil, err
	}
	cmd := programCommand(r, program, env, "state", "pull")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	required, readErr := load.ReadStateRequirements(out, "from "+program, r.Product)
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%s state pull: %w", program, err)
	}
	required = workdir.InheritState(r.Meta.Env, r.Product, required, installed)
	for _, p := range installed.Providers() {
		delete(required, p)
	}
	return required, readErr
}

// programCommand prepares a run of the program. An interrupt is passed on to it, and it has 30 seconds to release its locks. One
// from the terminal has reached it already, and a second one would end it at once.
func programCommand(r request, program string, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(r.Meta.Context, program, args...)
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	context.AfterFunc(r.Meta.Context, func() { signal.Stop(interrupts) }) // the next one ends this process
	cmd.Cancel = func() error {
		signal.Stop(interrupts) // waits until the interrupt has arrived here, too
		if len(interrupts) > 0 && subprocess.InForeground() {
			return nil
		}
		return cmd.Process.Signal(os.Interrupt)
	}
	cmd.WaitDelay, cmd.Env = 30*time.Second, env
	return cmd
}

// writeHandOverConfig writes a CLI configuration for the program: the user's, but
// with the installed packages as the only source of providers, and without the
// tokens, which are in variables. It is JSON as Terraform reads it: every block is a list.
func writeHandOverConfig(r request, path string) error {
	type object = map[string]any
	config := object{}
	methods := object{"filesystem_mirror": []any{object{"path": workdir.ProvidersDir(r.Meta.Env, r.Meta.Dir)}}}
	if len(r.Config.DevOverrides) > 0 {
		overrides := object{}
		for p, dir := range r.Config.DevOverrides {
			overrides[p.String()] = dir
		}
		methods["dev_overrides"] = []any{overrides}
	}
	config["provider_installation"] = []any{methods}
	if len(r.Config.Hosts) > 0 {
		services := object{}
		for host, offered := range r.Config.Hosts {
			services[host.String()] = []any{object{"services": []any{offered}}}
		}
		config["host"] = []any{services}
	}
	content, err := json.Marshal(config)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// backendToken returns the variable with the token for the backend's host, as
// an entry of an environment, or nil if there is no token.
func backendToken(r request, dir *workdir.Dir) []string {
	host := cloudHost(r, dir)
	if host == "" {
		return nil
	}
	token, err := r.Credentials.Token(r.Meta.Context, host)
	if err != nil || token == "" {
		return nil
	}
	name := strings.NewReplacer("-", "__", ".", "_").Replace(host.ASCII()) // with a port, too: no shell sets it
	return []string{"TF_TOKEN_" + name + "=" + token}
}
