package command

import (
	"net/http"
	"slices"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// InitCommand prepares a working directory.
type InitCommand struct{ Meta *Meta }

// Synopsis says in a line what the command is for.
func (c *InitCommand) Synopsis() string { return "Prepare your working directory for other commands" }

// Run carries the command out and returns the exit code.
func (c *InitCommand) Run(args []string) int {
	opts, problems := parseInit(args)
	engine, err := c.Meta.engine()
	if err != nil {
		problems = append(problems, view.NewError("Invalid engine version", err.Error()))
	}
	run := &initRun{Meta: c.Meta, opts: opts, engine: engine}
	run.view = view.NewInit(c.Meta.viewOptions(engine, opts.json))
	run.view.Version(c.Meta.Version)
	if !problems.HasErrors() {
		problems = run.all()
	}
	if problems.HasErrors() {
		run.view.Problems(append(run.warnings, problems...))
		return 1
	}
	return 0
}

// initRun is one run of init. Its methods are the phases; each returns the
// errors that end the run, and leaves warnings for the end.
type initRun struct {
	*Meta
	opts     initOptions
	engine   getproviders.Engine
	view     *view.Init
	warnings view.Problems

	settings
	module   *configs.Module
	tree     *modules.Tree
	broken   view.Problems // what is wrong with the root module, warnings included
	unusable view.Problems // what is wrong with the modules below it
	locks    *depsfile.Locks
	req      getproviders.Requirements
	source   getproviders.MultiSource
	archives *http.Client
}

// all is the table of contents: the phases, in the order of the real tool's.
func (r *initRun) all() view.Problems {
	if problems := r.readSettings(); problems.HasErrors() {
		return problems
	}
	r.module, r.broken = configs.LoadModule(".", r.engine)
	if r.module.Empty && !r.broken.HasErrors() {
		r.view.EmptyDirectory()
		return nil
	}
	for _, phase := range []func() view.Problems{
		r.loadLocks,
		r.announceBackend,
		r.loadTree,
		r.checkConfig,
		r.collectRequirements,
		r.checkReadonly,
		r.connect,
		r.install,
	} {
		if errors := r.keepErrors(phase()); errors.HasErrors() {
			return append(errors, r.saveModules()...)
		}
	}
	r.view.Done(r.warnings, r.Env.Get("TF_IN_AUTOMATION") != "")
	return nil
}

// keepErrors takes the warnings out of what a phase returned.
func (r *initRun) keepErrors(problems view.Problems) (errors view.Problems) {
	for _, p := range problems {
		if view.IsWarning(p) {
			r.warnings = append(r.warnings, p)
		} else {
			errors = append(errors, p)
		}
	}
	return errors
}

func (r *initRun) loadLocks() (problems view.Problems) {
	r.locks, problems = depsfile.Load(depsfile.FileName, r.engine)
	return problems
}

// announceBackend begins the backend's phase, and says what this version
// leaves undone there.
func (r *initRun) announceBackend() view.Problems {
	if !r.opts.backend {
		return nil
	}
	backend := r.module.Backend
	r.view.BackendBegin(backend != nil && backend.Type == "cloud")
	const advice = "This version of tfdeps installs the providers, but doesn't initialize backends: plan and apply may ask for it. " +
		"To initialize the backend, run:\n  terraform init -reconfigure"
	switch {
	case backend != nil:
		return view.Problems{view.At(backend.Range, view.NewWarning("Backend not initialized", advice))}
	case r.backendRecorded():
		return view.Problems{view.NewWarning("Backend not initialized",
			"The directory was initialized with a backend that the configuration doesn't have any more. "+advice)}
	default:
		return nil
	}
}

// checkConfig refuses a configuration that is for other versions of the
// engine, and if it isn't, one that has errors. The first is told alone: what
// is an error now may be fine for the version that is asked for.
func (r *initRun) checkConfig() view.Problems {
	if unfit := r.tree.CheckVersion(r.engine); unfit.HasErrors() {
		r.warnings = nil
		return unfit
	}
	problems := slices.Concat(r.broken, r.unusable)
	if !r.broken.HasErrors() && (r.opts.get || !r.unusable.HasErrors()) {
		return problems // installing modules needs no explanation
	}
	preamble := view.NewError(r.engine.Name+" encountered problems during initialisation, including problems\n"+
		"with the configuration, described below.",
		"The "+r.engine.Name+" configuration must be valid before initialization so that\n"+
			r.engine.Name+" can determine which modules and providers need to be installed.")
	return append(view.Problems{preamble}, problems...)
}
