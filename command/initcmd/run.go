// Package initcmd is the command "init", which prepares a working directory: it
// finds modules, records the backend, installs providers and writes the lock file.
//
// It reads from top to bottom: options.go, run.go with the order of the phases,
// then a file for each phase: settings.go, configuration.go, backend.go, modules.go,
// requirements.go, providers.go, lockfile.go and handover.go. check.go is init -check, which does none of it.
package initcmd

import (
	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
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
}

func run(m *cli.Meta, args []string) (int, error) {
	opts, problems := parse(args, m.Env, m.StandIn)
	product, invalid := products.Choose(m, products.Options{With: opts.backend.with, ReadOnly: opts.check})
	problems = append(problems, invalid...)
	how := m.ViewOptions(product, opts.json)
	how.Progress = opts.progress
	// Terminals that can't draw get no bars, and the lines of the debug log neither.
	how.NoBars = m.Env.Get("TERM") == "dumb" || m.Log != nil
	r := request{meta: m, opts: opts, product: product, view: view.NewInit(how)}
	r.view.Version(m.Version)
	if problems.HasErrors() {
		return cli.End(r.view.Problems, problems, 1), nil
	}
	if opts.check {
		return check(r), nil
	}
	return initialize(r), nil
}

// initialize runs the phases in Terraform's order, and returns the exit code.
// Warnings are shown at the end, those of the settings at once.
func initialize(r request) int {
	var log problem.Log
	end := func() int { return cli.End(r.view.Problems, log.All(), 1) }
	settings, problems := applySettings(r)
	if !log.Add(problems...) {
		return end()
	}
	dir, moduleLocks, problems := loadConfiguration(r, settings.net)
	if !log.Add(problems...) {
		return end()
	}
	if dir.Empty() {
		r.view.EmptyDirectory()
		return 0
	}
	in := installation{request: r, settings: settings, dir: dir}
	if !initializeDir(&in, moduleLocks, &log) {
		log.Add(saveModules(r, dir, in.toLock)...)
		return end()
	}
	r.view.Done(log.Warnings, r.meta.Env.Get("TF_IN_AUTOMATION") != "")
	return 0
}

// initializeDir runs the phases for a directory with a configuration, until one
// of them has an error. It reports whether none had.
func initializeDir(in *installation, moduleLocks workdir.ModuleLocks, log *problem.Log) bool {
	r, dir := in.request, in.dir
	record, backendProblems := initBackend(r, dir, log)
	if !initModules(in, moduleLocks, backendProblems, log) {
		return false
	}
	var problems problem.List
	if in.required, problems = requirements(r, in.settings, dir, record); !log.Add(problems...) {
		return false
	}
	return log.Add(in.provide()...) && log.Add(in.handOver()...)
}
