package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/configs/backend"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// ProvidersCommand shows which module requires which providers.
type ProvidersCommand struct{ Meta *Meta }

// Synopsis says in a line what the command is for.
func (c *ProvidersCommand) Synopsis() string {
	return "Show the providers required for this configuration"
}

// Run carries the command out and returns the exit code.
func (c *ProvidersCommand) Run(args []string) int {
	opts, err := parseProviders(args, c.Meta.Env)
	if err != nil {
		return c.Meta.misused(err, c.Help())
	}
	product, problems := c.Meta.productOf()
	run := &providersRun{Meta: c.Meta, opts: opts, product: product}
	return carryOut(problems, run.all, view.NewInit(c.Meta.viewOptions(product, false)).Problems)
}

// providersRun is one run of providers.
type providersRun struct {
	*Meta
	opts    providersOptions
	product getproviders.Product
	configuration
	report view.ProvidersReport
}

// all does what the command is for, and returns what there is to say at the end.
func (r *providersRun) all() (problems view.Problems) {
	r.load(".", r.Meta, r.product, r.opts.configurationOptions)
	if r.module.Empty && !r.broken.HasErrors() {
		return view.Problems{view.NewError("No configuration files",
			fmt.Sprintf("The directory %s contains no %s configuration files.", workingDirectory(), r.product.Name))}
	}
	for _, phase := range []func() view.Problems{
		r.findRecorded, r.describeModules, r.describeState, r.describeLocks, r.print,
	} {
		if problems = append(problems, phase()...); problems.HasErrors() {
			return problems
		}
	}
	return problems
}

// findRecorded takes the modules as they are recorded. Nothing is installed,
// and it doesn't matter for which versions of the product they are.
func (r *providersRun) findRecorded() view.Problems {
	installer := modules.Installer{Dir: r.modulesDir(), Product: r.product, Mode: modules.AsRecorded}
	if problems := r.findModules(r.Context, installer); problems.HasErrors() {
		return problems
	}
	return slices.Concat(r.broken, r.unusable, r.misfit)
}

// describeModules says what each module asks for.
func (r *providersRun) describeModules() (problems view.Problems) {
	for _, m := range r.tree.Modules {
		required, diags := m.Config.Requirements(r.product)
		problems = append(problems, diags...)
		r.report.Modules = append(r.report.Modules, view.ModuleProviders{
			Path: r.shownPath(m.Config.Path), Key: m.Key, Source: modules.Redact(m.Source), Version: m.Version, Dir: m.Dir, Required: required,
		})
	}
	r.report.Tests = r.module.Tests
	r.describeCalls()
	return problems
}

// shownPath is a module's path, in which a test's run has the name that it has
// in the tree that is drawn.
func (r *providersRun) shownPath(path string) string {
	for _, run := range r.module.TestRuns {
		if rest, ok := strings.CutPrefix(path, run.Path()); ok && (rest == "" || rest[0] == '.') {
			return run.Key + rest
		}
	}
	return path
}

// describeCalls says where the modules are called.
func (r *providersRun) describeCalls() {
	calls := map[string]*view.ModuleCall{} // by the path of what is called
	for _, m := range r.tree.Modules {
		for _, call := range m.Config.Calls {
			path := "module." + call.Name
			if m.Config.Path != "" {
				path = r.shownPath(m.Config.Path) + "." + path
			}
			calls[path] = describeCall(call)
		}
		for _, run := range m.Config.TestRuns {
			calls[run.Key] = describeCall(run.Call)
		}
	}
	for i, m := range r.report.Modules {
		r.report.Modules[i].Call = calls[m.Path]
	}
}

func describeCall(call configs.ModuleCall) *view.ModuleCall {
	return &view.ModuleCall{File: call.Range.Filename, Line: call.Range.Start.Line, Version: call.Version}
}

// describeState says what the state needs. Where it can't be read, the real
// tool tells nothing at all; the configuration is worth telling without it.
func (r *providersRun) describeState() view.Problems {
	var record *backend.Record
	var err error
	known := true
	if r.opts.stateFile == "" {
		record, err = backend.Read(filepath.Join(r.dataDir(), backend.FileName))
		known = record != nil || r.module.Backend == nil
	}
	if known && err == nil {
		r.report.State, known, err = r.readState(r.product, r.opts.stateFile, record)
	}
	if err != nil {
		return view.Problems{view.NewError("Failed to load state", err.Error())}
	}
	if r.report.StateUnknown = !known; !known {
		return view.Problems{view.NewWarning("State not read", fmt.Sprintf(
			"The state is in the care of a backend, which wasn't asked: there may be providers that only the state requires. "+
				"To see them, run:\n  %s state pull | tfdeps providers -state=-", r.product.Program))}
	}
	return nil
}

// describeLocks says which versions are selected, for programs.
func (r *providersRun) describeLocks() view.Problems {
	if !r.opts.json {
		return nil
	}
	locks, problems := depsfile.Load(depsfile.FileName, r.product)
	r.report.Locked = map[getproviders.Provider]view.LockedVersion{}
	for _, lock := range locks.All() {
		r.report.Locked[lock.Provider] = view.LockedVersion{Version: lock.Version, Constraints: lock.Constraints}
	}
	return problems
}

func (r *providersRun) print() view.Problems {
	write := r.report.Text
	if r.opts.json {
		write = r.report.JSON
	}
	if err := write(r.Stdout); err != nil {
		return view.Problems{view.NewError("Failed to write the report", err.Error())}
	}
	return nil
}

// workingDirectory is the full name of the current directory.
func workingDirectory() string {
	dir, err := filepath.Abs(".")
	if err != nil {
		return "."
	}
	return dir
}
