package initcmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// handOver has the program that -with names initialize the backend, now that
// modules and providers are in place. What that program says goes to the same
// streams as what tfdeps says.
//
// Only then can the state be asked for. If it needs more providers, they are
// installed; where the program stopped because they were missing, it runs again.
func (in *installation) handOver() bool {
	if in.opts.backend.with == "" || !in.opts.backend.initialize {
		return true
	}
	program, err := products.Program(in.Meta, in.opts.backend.with, nil)
	if err != nil {
		return in.Log.Fail("other_backend", "Can't hand the backend over", "%v", err)
	}
	temporary, config, err := in.writeHandOverConfig()
	if err != nil {
		return in.Log.Fail("other_backend", "Can't hand the backend over", "Writing a CLI configuration for it: %v", err)
	}
	defer temporary.Remove()
	failed := in.runWith(program, config)
	more, err := in.pullRequirements(program, config)
	switch {
	case err != nil && failed == nil:
		return in.Log.Add(workdir.StateProblem(err))
	case err != nil || len(more) == 0:
		return in.ended(program, failed)
	}
	in.required = in.required.Merge(more)
	before := in.Log.All
	if ok := in.install(); !ok || failed == nil {
		return ok
	}
	in.Log.All = before
	return in.ended(program, in.runWith(program, config))
}

// runWith runs the program's own init. It fetches no modules, and finds the
// providers where they are.
func (in *installation) runWith(program, config string) error {
	args := append([]string{"init", "-get=false"}, in.opts.backend.passed...)
	if in.Meta.NoColor {
		args = append(args, "-no-color")
	}
	cmd := in.command(program, config, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in.Meta.Stdin, in.Meta.Stdout, in.Meta.Stderr
	return cmd.Run()
}

// pullRequirements reads the state through the program, as a stream, and
// returns the providers in it that aren't installed yet.
func (in *installation) pullRequirements(program, config string) (getproviders.Requirements, error) {
	record, err := backend.Read(nil, workdir.RecordPath(in.Meta.Env), in.Product)
	if err != nil || in.opts.stateFile != "" {
		return nil, err
	}
	if _, known, err := workdir.ReadState(in.Meta, in.Product, "", record); known {
		return nil, err
	}
	cmd := in.command(program, config, "state", "pull")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	required, readErr := load.ReadStateRequirements(out, "from "+program, in.Product)
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%s state pull: %w", program, err)
	}
	required = workdir.InheritState(in.Meta.Env, in.Product, required, in.required)
	for _, p := range in.required.Providers() {
		delete(required, p)
	}
	return required, readErr
}

// command prepares a run of the program. An interrupt reaches it, too, and it has
// some time to give back locks.
func (in *installation) command(program, config string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(in.Meta.Context, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	cmd.Env = in.Meta.Env.With("TF_CLI_CONFIG_FILE="+config, "TF_CLI_ARGS=", "TF_CLI_ARGS_init=", "TF_PLUGIN_CACHE_DIR=",
		"TFDEPS_WITH=", cli.ArgumentsVariable+"=", cli.ArgumentsVariable+"_init="). // the program may be a copy of tfdeps
		With(in.backendToken()...)
	return cmd
}

func (in *installation) ended(program string, err error) bool {
	if err == nil {
		return true
	}
	return in.Log.Fail("backend_record", "The backend isn't initialized",
		"%s init: %v. Its own messages say why. Modules and providers are in place.", filepath.Base(program), err)
}

// writeHandOverConfig writes a CLI configuration for the program: the user's, but
// for the sources of providers, which is where they are installed, and for the
// tokens, which it gets otherwise. The caller removes the directory that it is in.
func (in *installation) writeHandOverConfig() (dir *scratch.Dir, path string, err error) {
	content, err := in.handOverConfig()
	if err != nil {
		return nil, "", err
	}
	if dir, err = scratch.Temporary(); err != nil {
		return nil, "", err
	}
	path = filepath.Join(dir.Path, "init.tfrc")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		dir.Remove()
		return nil, "", err
	}
	return dir, path, nil
}

// handOverConfig is in JSON, in the form that Terraform reads: every block is a
// list.
func (in *installation) handOverConfig() ([]byte, error) {
	providers, err := filepath.Abs(workdir.ProvidersDir(in.Meta.Env, ""))
	if err != nil {
		return nil, err
	}
	type object = map[string]any
	config := object{}
	methods := object{"filesystem_mirror": []any{object{"path": providers}}}
	if len(in.Config.DevOverrides) > 0 {
		overrides := object{}
		for p, dir := range in.Config.DevOverrides {
			overrides[p.String()] = dir
		}
		methods["dev_overrides"] = []any{overrides}
	}
	config["provider_installation"] = []any{methods}
	if len(in.Config.Hosts) > 0 {
		services := object{}
		for host, offered := range in.Config.Hosts {
			services[host.String()] = []any{object{"services": []any{offered}}}
		}
		config["host"] = []any{services}
	}
	return json.Marshal(config)
}

// defaultCloudHost is where cloud and remote backends are if nothing else is said.
const defaultCloudHost = "app.terraform.io"

// cloudHost is where the cloud block or the remote backend is; "" without one.
func (in *installation) cloudHost() hosts.Hostname {
	block := in.dir.Root.Backend
	if block == nil || block.Type != backend.Cloud && block.Type != "remote" {
		return ""
	}
	config, problems := (&backendState{request: in.request, block: block}).decode()
	if problems.HasErrors() {
		return ""
	}
	host, _ := hosts.ParseHostname(cmp.Or(config.Text("hostname"), in.Meta.Env.Get("TF_CLOUD_HOSTNAME"), defaultCloudHost))
	return host
}

// aliasCloud has localterraform.com stand for that host in addresses of providers and modules, as in the real programs.
func (in *installation) aliasCloud() {
	if in.cloud = in.cloudHost(); in.cloud != "" && in.Aliases != nil {
		told := in.Log.All
		in.Connect(in.opts.offlineBy, in.cloud)
		in.Log.All = told // what is wrong was said before
	}
}

// backendToken returns the variable with the token for the backend's host, as
// an entry of an environment; none if there is no such token.
func (in *installation) backendToken() []string {
	host := in.cloudHost()
	if host == "" {
		return nil
	}
	token, err := in.Credentials.Token(in.Meta.Context, host)
	if err != nil || token == "" {
		return nil
	}
	return []string{"TF_TOKEN_" + strings.NewReplacer("-", "__", ".", "_").Replace(host.ASCII()) + "=" + token}
}
