package initcmd

import (
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/config/modules"
)

// initModules finds the modules, and compares them with the configuration, with
// the versions of the product that they are for, and with their lock file. What
// that is to say goes into in.toLock. It reports whether there is no error so far.
func initModules(in *installation, backendProblems problem.List) bool {
	r, dir := in.request, in.dir
	if r.opts.get && hasCalls(dir) {
		r.view.ModulesBegin(r.opts.upgrade)
	}
	problems := findModules(in, r.view.ObserveModules)
	if dir.Tree != nil {
		r.view.ModulesEnd(len(dir.Tree.Modules) - 1) // without the root
	}
	if !r.opts.get && dir.RootProblems.HasErrors() {
		dir.TakeOutdated() // it may follow from what is wrong
	}
	if !r.log.Add(problems...) {
		return false
	}
	if !dir.RootProblems.HasErrors() && !dir.ModuleProblems.HasErrors() {
		r.view.PhaseEnd()
	}
	if !checkFit(r, dir, backendProblems) {
		return false
	}
	in.toLock, problems = checkModules(r, dir, in.moduleLocks)
	return r.log.Add(problems...)
}

// findModules finds the modules of the configuration, in the versions that are locked, and fetches them if need
// be; with -plan it fetches none.
func findModules(in *installation, observe func(modules.Event)) problem.List {
	r := in.request
	installer := in.modules()
	installer.CopiedFrom, installer.Observe, installer.DryRun = r.opts.fromModule, observe, r.opts.plan
	in.moduleLocks.Prefer(&installer)
	switch {
	case !r.opts.get:
		installer.Mode = modules.AsRecorded
	case r.opts.upgrade:
		installer.Mode = modules.Upgrade
	}
	return in.dir.FindModules(r.meta.Context, installer)
}

// checkFit tells whether the modules are for this version of the product, and what is wrong with them and with the backend.
func checkFit(r request, dir *workdir.Dir, backendProblems problem.List) bool {
	if unfit := dir.Tree.CheckVersion(r.product); unfit.HasErrors() {
		r.log.All = nil // what is wrong otherwise may be fine for the version that is asked for
		return r.log.Add(products.ExplainVersion(r.meta, r.product, unfit)...)
	}
	return r.log.Add(checkConfiguration(r, dir, backendProblems)...)
}

// hasCalls reports whether the root module or its tests call modules.
func hasCalls(dir *workdir.Dir) bool { return len(dir.Root.Calls)+len(dir.Root.TestRuns) > 0 }

// checkConfiguration returns the errors of the backend and the configuration,
// with an explanation where it takes one.
func checkConfiguration(r request, dir *workdir.Dir, backendProblems problem.List) problem.List {
	problems := slices.Concat(backendProblems, dir.RootProblems, dir.ModuleProblems, dir.ProviderProblems)
	if r.opts.get && hasCalls(dir) || !slices.Concat(dir.RootProblems, dir.ModuleProblems, dir.ProviderProblems).HasErrors() {
		return problems // installing modules needs no explanation
	}
	at := slices.IndexFunc(backendProblems, func(p *problem.Problem) bool { return p.Subject != nil })
	if at < 0 {
		at = len(backendProblems) // none of it is about what the configuration says
	}
	return slices.Insert(problems, at, new(products.Of(r.product).Preamble))
}

// checkRoot returns the errors of the root module, if they end a run before it looks at the backend.
func checkRoot(r request, dir *workdir.Dir) problem.List {
	manner := products.Of(r.product)
	if !manner.RootFirst {
		return nil
	}
	problems := products.ExplainVersion(r.meta, r.product, dir.Root.CheckVersion(r.product))
	if !problems.HasErrors() {
		problems = slices.Clone(dir.RootProblems)
		for _, call := range dir.Root.Calls {
			problems = append(problems, call.Problems()...)
		}
	}
	if !problems.HasErrors() {
		return nil
	}
	return append(problem.List{&manner.Preamble}, problems...)
}

// checkModules compares the modules with their lock file, and returns what that
// file is to say; nil: nothing. A module with another content than the one that
// is locked is refused, unless the user asks for an upgrade.
func checkModules(r request, dir *workdir.Dir, locks workdir.ModuleLocks) (*modulelock.Locks, problem.List) {
	if !locks.Kept {
		return nil, nil
	}
	installed, problems := dir.InstalledModules(r.meta.Context)
	if problems.HasErrors() {
		return nil, problems
	}
	for _, finding := range locks.Locked.Check(installed) {
		problems = append(problems, checkModule(r, dir, finding)...)
	}
	if dir.ModuleProblems = append(dir.ModuleProblems, problems...); problems.HasErrors() {
		return nil, problems
	}
	return locks.Locked.Updated(installed), problems
}

// checkModule says whether a module may differ from its lock.
func checkModule(r request, dir *workdir.Dir, finding modulelock.Finding) problem.List {
	switch {
	case finding.State == modulelock.Same:
		return nil
	case workdir.HasOtherContent(finding) && !r.opts.upgrade:
		return problem.Fail("module_changed", "Module doesn't match its lock file",
			"The module %s, from %s, is not what %s records: %s.\n\nA tag may have been moved, an archive replaced, or the files in %s changed. "+
				"If it is what you want, run \"tfdeps init -upgrade\", which records it. If it isn't, remove that directory and find out who has changed it.",
			finding.Key, finding.Locked.Source, modulelock.FileName, workdir.ModuleChange(finding),
			dir.ModuleDir(finding.Key, workdir.ModulesDir(r.meta.Env)))
	case r.opts.readonly:
		return problem.Fail("module_changed", "Modules differ from their lock file",
			"%s forbids changes of lock files, and %s would have to be changed: %s.\n\nRun \"tfdeps init\" without it, and commit the file.",
			r.opts.readonlyBy, modulelock.FileName, workdir.ModuleChange(finding))
	default:
		return nil
	}
}
