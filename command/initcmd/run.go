// Package initcmd is the command "init", which prepares a working directory: it
// finds modules, records the backend, installs providers and writes the lock file.
//
// It reads from top to bottom: options.go, run.go with the order of the phases,
// then a file for each phase: settings.go, backend.go with leftbehind.go, modules.go,
// requirements.go, providers.go, lockfile.go and handover.go. report.go writes the page of the run. check.go is init -check, which does none of
// it, and plan.go is init -plan, which asks what it would do.
package initcmd

import (
	"cmp"
	"errors"
	"slices"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/config/modules"
)

// Command is the command.
func Command() cli.Command {
	return cli.Command{Name: "init", Synopsis: "Prepare your working directory for other commands", Help: help(), Run: run}
}

// request is what one run of init works on. Nothing of it changes.
type request struct {
	meta    *cli.Meta
	opts    options
	product getproviders.Product
	view    *view.Init
	log     *problem.Log // steps add to it, and return whether the next one may run
}

func run(m *cli.Meta, args []string) (int, error) {
	opts, problems := parse(args, m.Env, m.StandIn)
	for _, p := range problems {
		if blame := m.Blame(errors.New(p.Detail)); blame != "" {
			p.Detail += "\n\n" + blame
		}
	}
	product, from, invalid := products.ChooseWithOrigin(m, products.Options{With: opts.backend.with, ReadOnly: opts.check || opts.plan})
	problems = slices.Concat(problems, invalid, opts.backend.unknown(product))
	how := m.ViewOptions(product, opts.json, opts.progress)
	into, unwritable := cli.OpenInto(opts.jsonInto)
	if problems = append(problems, unwritable...); into != nil {
		defer into.Close()
		how.JSONInto = into
	}
	shown := view.NewInit(how)
	r := request{meta: m.Showing(shown.Activity()), opts: opts, product: product, view: shown, log: new(problem.Log)}
	r.view.Version(m.Version, from.Because(m, product))
	problems = append(problems, checkReport(opts.report)...)
	code := 0
	switch problems = append(problems, m.Warnings...); {
	case problems.HasErrors():
		code = cli.End(r.view.Problems, problems, 1)
	case opts.check:
		r.view.Problems(problems)
		code = check(r)
	case opts.plan:
		r.view.Problems(problems)
		code = plan(r)
	default:
		r.view.Problems(problems)
		code = initialize(r)
		if !r.opts.json {
			r.meta.TellInterrupted(r.log.All)
		}
		if unwritten := writeReport(r, code != 0); unwritten.HasErrors() {
			code = cli.End(r.view.Problems, unwritten, code)
		}
	}
	r.view.End(code)
	return code, nil
}

// initialize runs the phases in Terraform's order, and returns the exit code.
// Warnings are shown at the end, those of the settings at once.
func initialize(r request) int {
	settings, ok := applySettings(r)
	if !ok {
		return failed(r)
	}
	dir, moduleLocks, ok := loadConfiguration(r, settings.net)
	if !ok {
		return failed(r)
	}
	if dir.Empty() {
		r.view.EmptyDirectory()
		return 0
	}
	in := installation{request: r, settings: settings, dir: dir}
	defer func() { in.mirrors.Close() }()
	if !initializeDir(&in, moduleLocks) {
		saveModules(r, dir, in.toLock)
		return failed(r)
	}
	r.view.Done(r.log.All, r.meta.Env.Get("TF_IN_AUTOMATION") != "")
	return 0
}

// failed shows the warnings, and after them the errors, and returns the exit code.
func failed(r request) int {
	warnings, errors := r.log.Split()
	return cli.End(r.view.Problems, append(warnings, errors...), 1)
}

// initializeDir runs the phases for a directory with a configuration, until one
// of them has an error. It reports whether none had.
func initializeDir(in *installation, moduleLocks workdir.ModuleLocks) (ok bool) {
	r, dir := in.request, in.dir
	if !r.log.Add(checkRoot(r, dir)...) || !r.log.Add(checkEncryption(r, dir)...) {
		return false
	}
	record, backendProblems := initBackend(r, dir)
	r.view.PhaseEnd()
	if !initModules(in, moduleLocks, backendProblems) {
		return false
	}
	in.required, ok = requirements(r, in.settings, dir, record)
	return ok && in.provide() && in.handOver()
}

// loadConfiguration reads the root module, after the one that -from-module names
// was copied to its place, and the lock files, if there is a module. What is wrong
// with the module is kept in the Dir.
func loadConfiguration(r request, net sources.Network) (dir *workdir.Dir, moduleLocks workdir.ModuleLocks, ok bool) {
	if !r.log.Add(copyModule(r, net)...) {
		return nil, moduleLocks, false
	}
	options := r.opts.modules
	if r.opts.fromModule != "" { // the user can't have looked at it yet
		options.Within = "."
	}
	if dir = workdir.Load(r.meta, r.product, ".", options); dir.Empty() || dir.InputProblems.HasErrors() {
		if r.product.Predecessor != nil && dir.InputProblems.HasErrors() {
			r.log.Add(preamble(r))
		}
		return dir, moduleLocks, r.log.Add(dir.InputProblems...)
	}
	problems := append(dir.InputProblems, dir.LoadLocks()...)
	moduleLocks, unread := workdir.LoadModuleLocks(r.meta.Context, r.opts.lockModules)
	return dir, moduleLocks, r.log.Add(append(problems, unread...)...)
}

// copyModule copies the module that -from-module names into the working
// directory, which becomes the configuration that is initialized.
func copyModule(r request, net sources.Network) problem.List {
	source := r.opts.fromModule
	if source == "" {
		return nil
	}
	if module, problems := load.LoadModule(".", r.product); !module.Empty || problems.HasErrors() {
		summary, wanted := "The working directory already contains files", "an empty directory into which a copy of "
		advice := "the referenced module will be placed.\n\nTo initialize the configuration already in this working directory, omit the\n-from-module option."
		if r.product.Predecessor != nil {
			return problem.Fail("invalid_option", summary, "The -from-module option requires %s\n%s", wanted, advice)
		}
		return problem.Fail("invalid_option", summary+". The -from-module option requires\n"+wanted+advice, "")
	}
	shown := modules.Redact(source)
	r.view.CopyingModule(shown)
	installer, fetcher := net.Modules(r.meta, r.product)
	defer fetcher.Close()
	err := installer.Populate(r.meta.Context, source, ".")
	if invalid, ok := errors.AsType[problem.List](err); ok {
		return invalid
	}
	if err != nil {
		summary := "Failed to download module"
		var titled interface{ Summary() string }
		if errors.As(err, &titled) {
			summary = titled.Summary()
		}
		return problem.List{problem.Because(err, problem.Errorf(cmp.Or(problem.OfSummary(summary), "module_package_failed"), summary,
			"The option -from-module names %s. %s", shown, view.Explained(err)))}
	}
	r.view.ModuleCopied()
	return nil
}
