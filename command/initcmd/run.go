// Package initcmd is the command "init", which prepares a working directory: it
// finds modules, records the backend, installs providers and writes the lock file.
//
// Read it from top to bottom: run.go has the directories and the order of the phases, and each phase has
// a file: backend.go with leftbehind.go, requirements.go (also the modules), providers.go (also the lock
// file) with failures.go, and handover.go. assess.go is -check and -plan, which find out what the phases would do. directories.go is
// for runs in several directories, report.go writes the page of the run, and maintenance.go maintains the shared cache. All of them use
// session.go and options.go.
package initcmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/roots"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/providercache"
)

// Command returns the command "init".
func Command() cli.Command {
	o := defaults()
	return cli.Command{Name: "init", Synopsis: "Prepare your working directory for other commands", Run: runInit, Lines: true,
		Usage: "init [options]", About: about, Details: details, Flags: o.flags, Daily: daily, More: more,
		Examples: [][2]string{
			{"$TFDEPS init", "Install modules and providers, and record the backend."},
			{"$TFDEPS init -upgrade", "Take the newest versions that the constraints allow."},
			{"$TFDEPS init -frozen", "In CI: take what is locked, send no request, change no lock file."},
			{"$TFDEPS init -report=init.html", "Show in a browser how long everything took."},
			{"$TFDEPS init -platform=linux_amd64,darwin_arm64", "Add hashes for other platforms to the lock file."},
			{"$TFDEPS init -recursive -changed-since=origin/main", "Work in all root modules that this branch changes."},
		},
	}
}

func runInit(m *cli.Meta, args []string) (int, error) {
	opts, problems := parse(m, args)
	product, from, invalid := products.ChooseWithOrigin(m, products.Options{With: opts.backend.with, ReadOnly: opts.looks()})
	if opts.unexpected != nil && dialect.Of(product).Understands("no_arguments") {
		opts.unexpected.Summary = "No positional arguments are expected"
	}
	problems = slices.Concat(problems, invalid, opts.backend.unknown(m, opts.json, product), opts.backend.unable(m))
	shown, m, end, unwritable := m.NewInit(product, from.Because(m, product), opts.json, opts.jsonInto, opts.progress, opts.roots.Given())
	defer end()
	m.Remembers = !opts.looks()
	r := request{Session: sources.New(m, product, opts.roots.Given()), opts: opts, view: shown}
	defer r.Close()
	code := cli.End(shown.Problems, slices.Concat(problems, unwritable, checkReport(opts.report), m.Warnings), 0)
	if code != 0 {
		shown.End(code)
		return code, nil
	}
	if opts.roots.Given() {
		code = initDirectories(r)
	} else {
		code = initDirectory(r)
	}
	if code == 0 && !opts.looks() {
		lookAfter(r)
	}
	if unwritten := writeReport(r, code == 1); unwritten.HasErrors() {
		code = cli.End(shown.Problems, unwritten, code)
	}
	shown.End(code)
	return code, nil
}

// initDirectories runs init in the directories that the options name, one after the other, and returns the exit code. An error in one
// directory doesn't stop the others.
func initDirectories(r request) int {
	found, _ := r.opts.roots.Find(r.Meta, r.Product, r.opts.below, r.Log)
	r.opts.fit(r.Meta, len(found.Roots), r.Log)
	if code := cli.End(r.view.Problems, r.Log.All, 0); code != 0 {
		return code
	}
	locked := versionsOf{}
	code := roots.Each(r.Meta, found.Roots, func(m *cli.Meta, root roots.Root) int {
		product, _, invalid := products.ChooseWithOrigin(m, products.Options{With: r.opts.backend.with, ReadOnly: r.opts.looks()})
		inside := request{Session: r.In(m, product), opts: r.opts.inside(r.Meta.Dir, root.Dir), view: r.view}
		defer inside.Close()
		r.view.Enter(root.Dir, product)
		code := cli.End(r.view.Problems, invalid, 0)
		if code == 0 {
			code = initDirectory(inside)
		}
		if r.opts.sameVersions {
			locked.add(root.Dir, product)
		}
		end := "" // means that the directory is ready
		if r.opts.looks() {
			end = map[int]string{0: "up_to_date", cli.ExitDiffers: "something_to_do"}[code]
		}
		r.view.Leave(code, end)
		return code
	}, func(root roots.Root, err error) {
		r.view.Enter(root.Dir, r.Product)
		r.view.Problems(problem.Failed("configuration_not_found", "Can't work in a directory", err))
		r.view.Leave(1, "")
	})
	if locked.tell(r) && code == 0 {
		code = cli.ExitDiffers
	}
	r.view.LeaveAll()
	return code
}

// initDirectory runs init, -check or -plan in the current directory, and returns the exit code.
func initDirectory(r request) int {
	dir, ok := prepare(&r)
	switch {
	case !ok:
	case r.opts.looks():
		var found view.InitPlan
		if found, ok = assess(r, dir); ok {
			return answer(r, found)
		}
	case dir.Empty():
		r.view.EmptyDirectory()
	default:
		ok = runPhases(r, dir)
	}
	if ok {
		return 0
	}
	warnings, errors := r.Log.Split()
	cli.End(r.view.Problems, append(warnings, errors...), 1)
	if !r.opts.json && !r.opts.looks() {
		r.Meta.TellInterrupted(r.Log.All)
	}
	return 1
}

// runPhases runs the phases in Terraform's order. It shows warnings at the end; those of the settings were shown before.
func runPhases(r request, dir *workdir.Dir) bool {
	record, backendProblems := initBackend(r, dir)
	r.view.PhaseEnd()
	aliasCloud(r, dir)
	if installModules(r, dir, backendProblems) {
		required, ok := requirements(r, dir, record)
		if ok && connectSources(r, required) && installProviders(r, dir, required) && handOver(r, dir, required) {
			r.view.Done(r.Log.All, r.Meta.Env.Get("TF_IN_AUTOMATION") != "")
			return true
		}
	}
	r.Log.Add(dir.SaveModules()...)
	return false
}

// answer prints what -check or -plan found, and returns the exit code.
func answer(r request, found view.InitPlan) int {
	r.view.Problems(r.Log.All)
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

// prepare copies the module of -from-module, and reads what all phases need: the settings, the root module and the lock
// files. The Dir keeps the module's problems.
func prepare(r *request) (dir *workdir.Dir, ok bool) {
	if !readSettings(r) || !r.opts.looks() && !recordPluginDirs(*r) {
		return nil, false
	}
	if !r.opts.check { // -check sends no request
		r.Connect(r.opts.offlineBy, "")
	}
	if !r.Log.Add() || !copyModule(*r) {
		return nil, false
	}
	options := r.opts.modules
	options.Outlines = sources.Outlines(r.Meta)
	if r.opts.fromModule != "" { // the user can't have looked at it yet
		options.Within = "."
	}
	dir = workdir.Load(r.Meta, r.Product, ".", options)
	invalid := dir.InputProblems
	switch manner := products.Of(r.Product); {
	case invalid.HasErrors():
		if manner.RootFirst && !r.opts.check {
			r.Log.Add(&manner.Preamble)
		}
		return nil, r.Log.Add(invalid...)
	case dir.Empty():
		return dir, true
	case !r.opts.looks():
		r.Log.Add(invalid...)
	}
	r.Log.Add(dir.LoadLocks()...)
	return dir, r.Log.Add(dir.LoadModuleLocks(r.Meta.Context, r.opts.lockModules)...) &&
		(r.opts.check || r.Log.Add(checkRoot(*r, dir)...) && r.Log.Add(checkEncryption(*r, dir)...))
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
	summary, err := r.Modules().Populate(r.Meta.Context, source, ".")
	if invalid, ok := errors.AsType[problem.List](err); ok {
		return r.Log.Add(invalid...)
	}
	if err != nil {
		return r.Log.Add(problem.Because(err, problem.Errorf("module_package_failed", summary, "The option -from-module can't be used: %s", r.WithHint(err))))
	}
	r.view.ModuleCopied()
	return true
}

// readSettings reads the CLI configuration, variables and options that say how to install. It shows warnings at once,
// because they may explain later errors.
func readSettings(r *request) bool {
	r.ReadConfig()
	r.fallback = parsed(*r, "mirror-fallback", cmp.Or(r.opts.mirrorFallback, "stop"), "Invalid mirror fallback", parseFallback)
	r.Log.Add(sources.CheckArchiveCredentials(r.Meta.Env)...)
	var invalid problem.List
	r.skip, invalid = sources.Skipped(r.Meta.Env, r.Config, r.Product)
	r.Log.Add(invalid...)
	r.link = parsed(*r, "link", cmp.Or(r.opts.link, "auto"), "Invalid link mode", link.ParseMode)
	if !r.ReadPolicy(r.opts.policies) {
		return false
	}
	if !r.opts.noSharedCache {
		r.cache = r.Cache()
	}
	if r.cache != nil && r.cache.IsSameAs(&providercache.Store{Dir: workdir.ProvidersDir(r.Meta.Env, "")}) {
		r.cache = nil // the target is the cache itself
	}
	r.view.Problems(r.Log.All)
	r.Log.All = nil
	return true
}

// parsed reads the value of an option.
func parsed[T any](r request, name, given, invalid string, parse func(string) (T, error)) T {
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
