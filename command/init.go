package command

import (
	"slices"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// InitCommand prepares a working directory.
type InitCommand struct{ Meta *Meta }

// Synopsis says in a line what the command is for.
func (c *InitCommand) Synopsis() string { return "Prepare your working directory for other commands" }

// Run carries the command out and returns the exit code.
func (c *InitCommand) Run(args []string) int {
	opts, problems := parseInit(args, c.Meta.Env, c.Meta.StandIn)
	meta := *c.Meta
	meta.readOnly, meta.with = opts.check, opts.state.with
	product, invalid := meta.productOf()
	problems = append(problems, invalid...)
	run := &initRun{Meta: &meta, opts: opts, product: product}
	how := c.Meta.viewOptions(product, opts.json)
	how.Progress = c.Meta.progress(opts.progress)
	run.view = view.NewInit(how)
	run.view.Version(c.Meta.Version)
	if !problems.HasErrors() {
		problems = run.do()
	}
	if problems.HasErrors() {
		run.view.Problems(append(run.warnings, problems...))
		return 1
	}
	if run.outdated {
		return ExitDiffers
	}
	return 0
}

// initRun is one run of init. Its methods are the phases; each returns the
// errors that end the run, and leaves warnings for the end.
type initRun struct {
	*Meta
	opts     initOptions
	product  getproviders.Product
	view     *view.Init
	warnings view.Problems

	settings
	configuration
	home
	moduleLocks
	locks   *depsfile.Locks
	req     getproviders.Requirements
	source  getproviders.MultiSource
	network network

	outdated bool // -check has found something to do
}

// do does what was asked for.
func (r *initRun) do() view.Problems {
	if r.opts.check {
		return r.check()
	}
	return r.all()
}

// all is the table of contents: the phases, in the order of the real tool's.
func (r *initRun) all() view.Problems {
	for _, phase := range []func() view.Problems{r.readSettings, r.reach, r.copyModule} {
		if errors := r.keepErrors(phase()); errors.HasErrors() {
			return errors
		}
	}
	r.load(".", r.Meta, r.product, r.opts.configurationOptions)
	if r.module.Empty && !r.broken.HasErrors() {
		r.view.EmptyDirectory()
		return nil
	}
	for _, phase := range []func() view.Problems{
		r.loadLocks,
		r.loadModuleLocks,
		r.initBackend,
		r.loadTree,
		r.checkConfig,
		r.checkModuleLocks,
		r.collectRequirements,
		r.checkReadonly,
		r.connect,
		r.install,
		r.handOver,
	} {
		if errors := r.keepErrors(phase()); errors.HasErrors() {
			return append(errors, r.saveTree()...)
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
	r.locks, problems = depsfile.Load(depsfile.FileName, r.product)
	return append(problems, inheritLocks(r.locks, r.product)...)
}

// checkConfig refuses a configuration that is for other versions of the
// product, and if it isn't, one that has errors. The first is told alone: what
// is an error now may be fine for the version that is asked for.
func (r *initRun) checkConfig() view.Problems {
	if unfit := r.tree.CheckVersion(r.product); unfit.HasErrors() {
		r.warnings = nil
		return unfit
	}
	problems := slices.Concat(r.homeless, r.broken, r.unusable, r.misfit)
	if !r.broken.HasErrors() && (r.opts.get || !r.unusable.HasErrors() && !r.misfit.HasErrors()) {
		return problems // installing modules needs no explanation
	}
	preamble := view.NewError(r.product.Name+" encountered problems during initialisation, including problems\n"+
		"with the configuration, described below.",
		"The "+r.product.Name+" configuration must be valid before initialization so that\n"+
			r.product.Name+" can determine which modules and providers need to be installed.")
	at := slices.IndexFunc(r.homeless, func(p *view.Problem) bool { return p.Subject != nil })
	if at < 0 {
		at = len(r.homeless) // none of it is about what the configuration says
	}
	return slices.Insert(problems, at, preamble)
}
