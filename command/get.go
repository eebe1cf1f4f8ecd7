package command

import (
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/getproviders"
)

// GetCommand installs the modules of a configuration.
type GetCommand struct{ Meta *Meta }

// Synopsis says in a line what the command is for.
func (c *GetCommand) Synopsis() string { return "Install or upgrade remote modules" }

// Run carries the command out and returns the exit code.
func (c *GetCommand) Run(args []string) int {
	opts, err := parseGet(args, c.Meta.Env)
	if err != nil {
		return c.Meta.misused(err, c.Help())
	}
	product, problems := c.Meta.productOf()
	run := &getRun{Meta: c.Meta, opts: opts, product: product, view: view.NewInit(c.Meta.viewOptions(product, false))}
	return carryOut(problems, run.all, run.view.Problems)
}

// getRun is one run of get.
type getRun struct {
	*Meta
	opts    getOptions
	product getproviders.Product
	view    *view.Init
	configuration
}

// all does what the command is for, and returns what there is to say at the end.
func (r *getRun) all() view.Problems {
	_, net, problems := r.online(r.product, r.opts.offlineBy)
	if problems.HasErrors() {
		return problems
	}
	r.load(".", r.Meta, r.product, r.opts.configurationOptions)
	installer, fetcher := r.moduleInstaller(r.product, net, r.moduleStore())
	defer fetcher.Close()
	installer.Observe = r.view.ObserveModules
	if r.opts.update {
		installer.Mode = modules.Upgrade
	}
	if problems = append(problems, r.findModules(r.Context, installer)...); problems.HasErrors() {
		return problems
	}
	if !r.unusable.HasErrors() {
		r.misfit = view.AsWarnings(r.misfit) // it may be the modules that are to be mended
	}
	if problems = append(problems, r.problems(r.product)...); problems.HasErrors() {
		return problems
	}
	return append(problems, r.record()...)
}

// record saves where the modules are. The real tool's get writes a record even
// where there are no modules, which its init doesn't.
func (r *getRun) record() view.Problems {
	if problems := r.saveModules(r.product); problems.HasErrors() {
		return problems
	}
	if err := r.tree.Manifest.Save(r.modulesDir()); err != nil {
		return view.Problems{view.NewError("Failed to record the modules", err.Error())}
	}
	return nil
}
