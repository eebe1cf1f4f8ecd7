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
	"github.com/tfdeps/tfdeps/internal/dialect"
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
	if len(problems) > 0 && problems[0].Summary == tooManyArguments && dialect.Of(product).Understands("no_arguments") {
		problems[0].Summary = "No positional arguments are expected"
	}
	problems = slices.Concat(problems, invalid, opts.backend.unknown(opts.json, product), opts.backend.unable(m))
	shown, m, end, unwritable := m.NewInit(product, from.Because(m, product), opts.json, opts.jsonInto, opts.progress, opts.roots.Given())
	defer end()
	m.Remembers = !opts.looks()
	r := request{sources.New(m, product, opts.roots.Given()), opts, shown}
	defer r.Close()
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
	in := &installation{request: r, found: view.InitPlan{Complete: true}}
	ok := in.prepare()
	switch {
	case !ok:
	case r.opts.looks():
		ok = in.dir.Empty() || in.assess()
	case in.dir.Empty():
		r.view.EmptyDirectory()
	default:
		ok = in.initialize()
	}
	switch {
	case !ok:
		warnings, errors := r.Log.Split()
		cli.End(r.view.Problems, append(warnings, errors...), 1)
	case r.opts.looks():
		return in.answer()
	}
	if !r.opts.json && !r.opts.looks() {
		r.Meta.TellInterrupted(r.Log.All)
	}
	if ok {
		return 0
	}
	return 1
}

// initialize runs the phases in Terraform's order. Warnings are shown at the end, those of the settings at once.
func (in *installation) initialize() (ok bool) {
	record, backendProblems := initBackend(in.request, in.dir)
	in.view.PhaseEnd()
	in.aliasCloud()
	if in.initModules(backendProblems) {
		in.required, ok = requirements(in, record)
		if ok && in.connect() && in.install() && in.handOver() {
			in.view.Done(in.Log.All, in.Meta.Env.Get("TF_IN_AUTOMATION") != "")
			return true
		}
	}
	saveModules(in)
	return false
}

// answer shows what -check or -plan found, which is what an init would do, and returns the exit code.
func (in *installation) answer() int {
	in.view.Problems(in.Log.All)
	if in.opts.check {
		in.view.Checked(in.found.Others)
	} else {
		in.view.Planned(in.found)
	}
	if !in.found.IsEmpty() {
		return cli.ExitDiffers
	}
	return 0
}

// prepare reads what all phases work on: the settings, the root module, after the one that -from-module names was
// copied to its place, and the lock files. What is wrong with the module is kept in the Dir.
func (in *installation) prepare() bool {
	r := in.request
	if !in.readSettings() || !r.opts.looks() && !recordPluginDirs(r) {
		return false
	}
	if !r.opts.check { // which sends no request
		r.Connect(r.opts.offlineBy, "")
	}
	if !r.Log.Add() || !copyModule(r) {
		return false
	}
	options := r.opts.modules
	options.Outlines = sources.Outlines(r.Meta)
	if r.opts.fromModule != "" { // the user can't have looked at it yet
		options.Within = "."
	}
	in.dir = workdir.Load(r.Meta, r.Product, ".", options)
	invalid := in.dir.InputProblems
	switch manner := products.Of(r.Product); {
	case invalid.HasErrors():
		if manner.RootFirst && !r.opts.check {
			r.Log.Add(&manner.Preamble)
		}
		return r.Log.Add(invalid...)
	case in.dir.Empty():
		return true
	case !r.opts.looks():
		r.Log.Add(invalid...)
	}
	r.Log.Add(in.dir.LoadLocks()...)
	locks, unread := workdir.LoadModuleLocks(r.Meta.Context, r.opts.lockModules)
	in.moduleLocks = locks
	return r.Log.Add(unread...) &&
		(r.opts.check || r.Log.Add(checkRoot(r, in.dir)...) && r.Log.Add(checkEncryption(r, in.dir)...))
}

// copyModule copies the module that -from-module names into the working
// directory, which becomes the configuration that is initialized.
func copyModule(r request) bool {
	source := r.opts.fromModule
	if source == "" {
		return true
	}
	if module, problems := load.LoadModule(".", r.Product); !module.Empty || problems.HasErrors() {
		return r.Log.Add(new(products.Of(r.Product).NotEmpty))
	}
	r.view.CopyingModule(modules.Redact(source))
	err := r.Modules().Populate(r.Meta.Context, source, ".")
	if invalid, ok := errors.AsType[problem.List](err); ok {
		return r.Log.Add(invalid...)
	}
	if err != nil {
		summary := "Failed to download module"
		var titled interface{ Summary() string }
		if errors.As(err, &titled) {
			summary = titled.Summary()
		}
		return r.Log.Add(problem.Because(err, problem.Errorf(cmp.Or(problem.OfSummary(summary), "module_package_failed"), summary,
			"The option -from-module can't be used: %s", explain.WithHint(err))))
	}
	r.view.ModuleCopied()
	return true
}

// readSettings finds out how to install. Warnings are shown at once, because they
// may explain all that follows.
func (in *installation) readSettings() bool {
	r := in.request
	r.ReadConfig()
	in.fallback = read(r, "mirror-fallback", cmp.Or(r.opts.mirrorFallback, "stop"), "Invalid mirror fallback", parseFallback)
	r.Log.Add(sources.CheckArchiveCredentials(r.Meta.Env)...)
	var invalid problem.List
	in.skip, invalid = sources.Skipped(r.Meta.Env, r.Config, r.Product)
	r.Log.Add(invalid...)
	in.link = read(r, "link", cmp.Or(r.opts.link, "auto"), "Invalid way of linking", link.ParseMode)
	if !r.ReadPolicy(r.opts.policies) {
		return false
	}
	if !r.opts.noSharedCache {
		in.cache = r.Cache()
	}
	if in.cache != nil && in.cache.IsSameAs(&providercache.Store{Dir: workdir.ProvidersDir(r.Meta.Env, "")}) {
		in.cache = nil // what is installed is there already
	}
	r.view.Problems(r.Log.All)
	r.Log.All = nil
	return true
}

// read reads the value of an option.
func read[T any](r request, name, given, invalid string, parse func(string) (T, error)) T {
	value, err := parse(given)
	if err != nil {
		r.Log.Fail("invalid_option", invalid, "The value of %s can't be used: %v.", r.opts.by[name], err)
	}
	return value
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
