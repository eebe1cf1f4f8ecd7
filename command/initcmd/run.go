// Package initcmd is the command "init", which prepares a working directory: it
// finds modules, records the backend, installs providers and writes the lock file.
//
// It reads from top to bottom: run.go has the order of the phases and what they work on, then
// there is a file for each phase: backend.go with leftbehind.go, requirements.go, with the modules, providers.go, with the lock
// file, and handover.go. report.go writes the page of the run, and maintenance.go looks after the shared cache. assess.go is -check and -plan, which find out what the
// phases would do. directories.go does all of it in several directories, which share a session. session.go and options.go are what all work with.
package initcmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/providercache"
)

// Command is the command.
func Command() cli.Command {
	o := defaults()
	return cli.Command{Name: "init", Synopsis: "Prepare your working directory for other commands", Run: run, Lines: true,
		Usage: "init [options]", About: about, Flags: o.flags, Daily: daily, More: more}
}

func run(m *cli.Meta, args []string) (int, error) {
	opts, problems := parse(args, m.Env, m.StandIn)
	for _, p := range problems {
		if blame := m.Blame(errors.New(p.Detail)); blame != "" {
			p.Detail += "\n\n" + blame
		}
	}
	product, from, invalid := products.ChooseWithOrigin(m, products.Options{With: opts.backend.with, ReadOnly: opts.check || opts.plan})
	if len(problems) > 0 && problems[0].Summary == tooManyArguments && product.Predecessor == nil && product.IsSince("1.16") {
		problems[0].Summary = "No positional arguments are expected"
	}
	problems = slices.Concat(problems, invalid, opts.backend.unknown(opts.json, product), opts.backend.unable(m))
	shown, m, end, unwritable := m.NewInit(product, from.Because(m, product), opts.json, opts.jsonInto, opts.progress, opts.roots.Given())
	defer end()
	m.Remembers = !opts.looks()
	r := request{meta: m, opts: opts, product: product, view: shown, log: new(problem.Log), session: sources.NewSession(opts.roots.Given())}
	defer r.session.Close()
	problems = slices.Concat(problems, unwritable, checkReport(opts.report), m.Warnings)
	code := cli.End(r.view.Problems, problems, 0)
	if code != 0 {
		r.view.End(code)
		return code, nil
	}
	if opts.roots.Given() {
		code = directories(r)
	} else {
		code = alone(r)
	}
	if code == 0 && !r.opts.looks() {
		lookAfter(r)
	}
	if unwritten := writeReport(r, code == 1); unwritten.HasErrors() {
		code = cli.End(r.view.Problems, unwritten, code)
	}
	r.view.End(code)
	return code, nil
}

// alone does in the current directory what the options ask for, and returns the exit code.
func alone(r request) int {
	if r.opts.looks() {
		return look(r)
	}
	code := initialize(r)
	if !r.opts.json {
		r.meta.TellInterrupted(r.log.All)
	}
	return code
}

// initialize runs the phases in Terraform's order, and returns the exit code.
// Warnings are shown at the end, those of the settings at once.
func initialize(r request) int {
	in, ok := prepare(r)
	defer func() { in.mirrors.Close() }()
	switch {
	case !ok:
		return failed(r)
	case in.dir.Empty():
		r.view.EmptyDirectory()
		return 0
	}
	record, backendProblems := initBackend(r, in.dir)
	r.view.PhaseEnd()
	in.aliasCloud()
	if initModules(in, backendProblems) {
		in.required, ok = requirements(in, record)
		if ok && in.connect() && in.install() && in.handOver() {
			r.view.Done(r.log.All, r.meta.Env.Get("TF_IN_AUTOMATION") != "")
			return 0
		}
	}
	saveModules(in)
	return failed(r)
}

// look is -check and -plan: it shows what an init would do, and returns the exit code. What would keep an init from
// succeeding is an error.
func look(r request) int {
	in, ok := prepare(r)
	defer func() { in.mirrors.Close() }()
	found := view.InitPlan{Complete: true}
	if ok && !in.dir.Empty() {
		ok = in.assess(&found)
	}
	if !ok {
		return failed(r)
	}
	r.view.Problems(r.log.All)
	if r.opts.check {
		r.view.Checked(found.Others)
	} else {
		r.view.Planned(found)
	}
	if !found.IsEmpty() {
		return cli.ExitDiffers
	}
	return 0
}

// failed shows the warnings, and after them the errors, and returns the exit code.
func failed(r request) int {
	warnings, errors := r.log.Split()
	return cli.End(r.view.Problems, append(warnings, errors...), 1)
}

// prepare reads what all phases work on: the settings, the root module, after the one that -from-module names was
// copied to its place, and the lock files. What is wrong with the module is kept in the Dir.
func prepare(r request) (in *installation, ok bool) {
	in = &installation{request: r}
	if in.settings, ok = readSettings(r); !ok || !r.opts.looks() && !recordPluginDirs(r) {
		return in, false
	}
	var problems problem.List
	if !r.opts.check { // which sends no request
		in.settings.net, problems = r.session.Connect(r.meta, r.product, in.settings.config, r.opts.offlineBy, "")
	}
	in.settings.net.Policy = in.settings.policy
	if !r.log.Add(problems...) || !r.log.Add(copyModule(r, in.settings.net)...) {
		return in, false
	}
	options := r.opts.modules
	options.Outlines = sources.Outlines(r.meta)
	if r.opts.fromModule != "" { // the user can't have looked at it yet
		options.Within = "."
	}
	in.dir = workdir.Load(r.meta, r.product, ".", options)
	invalid := in.dir.InputProblems
	switch manner := products.Of(r.product); {
	case invalid.HasErrors():
		if manner.RootFirst && !r.opts.check {
			r.log.Add(&manner.Preamble)
		}
		return in, r.log.Add(invalid...)
	case in.dir.Empty():
		return in, true
	case !r.opts.looks():
		r.log.Add(invalid...)
	}
	problems = in.dir.LoadLocks()
	locks, unread := workdir.LoadModuleLocks(r.meta.Context, r.opts.lockModules)
	in.moduleLocks = locks
	return in, r.log.Add(append(problems, unread...)...) &&
		(r.opts.check || r.log.Add(checkRoot(r, in.dir)...) && r.log.Add(checkEncryption(r, in.dir)...))
}

// copyModule copies the module that -from-module names into the working
// directory, which becomes the configuration that is initialized.
func copyModule(r request, net sources.Network) problem.List {
	source := r.opts.fromModule
	if source == "" {
		return nil
	}
	if module, problems := load.LoadModule(".", r.product); !module.Empty || problems.HasErrors() {
		return problem.List{new(products.Of(r.product).NotEmpty)}
	}
	r.view.CopyingModule(modules.Redact(source))
	installer, done := net.Modules(r.meta, r.product)
	defer done()
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
			"The option -from-module can't be used: %s", explain.WithHint(err)))}
	}
	r.view.ModuleCopied()
	return nil
}

// readSettings finds out how to install. Warnings are shown at once, because they
// may explain all that follows.
func readSettings(r request) (s settings, ok bool) {
	var problems, invalid, unlinked, unruled problem.List
	s.config, problems = r.session.Config(r.meta, r.product)
	s.fallback, invalid = read(r.opts, "mirror-fallback", cmp.Or(r.opts.mirrorFallback, "stop"), "Invalid mirror fallback", parseFallback)
	problems = append(append(problems, invalid...), sources.CheckArchiveCredentials(r.meta.Env)...)
	s.skip, invalid = sources.Skipped(r.meta.Env, s.config, r.product)
	s.link, unlinked = read(r.opts, "link", cmp.Or(r.opts.link, "auto"), "Invalid way of linking", link.ParseMode)
	s.policy, unruled = sources.ReadPolicy(r.meta, r.product, r.opts.policies)
	if problems = slices.Concat(problems, invalid, unlinked, unruled); problems.HasErrors() {
		return s, r.log.Add(problems...)
	}
	if !r.opts.noSharedCache {
		var unused problem.List
		s.cache, unused = r.session.Cache(r.meta, s.config)
		problems = append(problems, unused...)
	}
	if s.cache != nil && s.cache.IsSameAs(&providercache.Store{Dir: workdir.ProvidersDir(r.meta.Env, "")}) {
		s.cache = nil // what is installed is there already
	}
	r.view.Problems(problems)
	return s, true
}

// read reads the value of an option.
func read[T any](o options, name, given, invalid string, parse func(string) (T, error)) (T, problem.List) {
	value, err := parse(given)
	if err != nil {
		return value, problem.Fail("invalid_option", invalid, "The value of %s can't be used: %v.", o.by[name], err)
	}
	return value, nil
}

// parseFallback reads the value of -mirror-fallback.
func parseFallback(given string) (getproviders.Fallback, error) {
	switch given {
	case "stop":
		return getproviders.StopOnFailure, nil
	case "next", "exclusive":
		return getproviders.Fallback(given), nil
	}
	return "", fmt.Errorf("invalid fallback %q: must be one of stop, next, exclusive", given)
}
