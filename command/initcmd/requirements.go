package initcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/providercache"
)

// installModules finds the modules, and checks their configuration,
// the versions of the product that they need, and their lock file. It reports whether there is no error so far.
func installModules(r request, dir *workdir.Dir, backendProblems problem.List) bool {
	if r.opts.get && hasCalls(dir) {
		r.view.ModulesBegin(r.opts.upgrade)
	}
	problems := findModules(r, dir, r.view.ObserveModules)
	if dir.Tree != nil {
		r.view.ModulesEnd(len(dir.Tree.Modules) - 1) // without the root module
	}
	if !r.opts.get && dir.RootProblems.HasErrors() {
		dir.TakeOutdated() // these reports may be a consequence of the errors
	}
	if !r.Log.Add(problems...) {
		return false
	}
	if !dir.RootProblems.HasErrors() && !dir.ModuleProblems.HasErrors() {
		r.view.PhaseEnd()
	}
	return checkFit(r, dir, backendProblems) && checkModules(r, dir)
}

// findModules finds the modules of the configuration in their locked versions, and fetches the missing ones, but
// not with -plan.
func findModules(r request, dir *workdir.Dir, observe func(modules.Event)) problem.List {
	installer := modules.Resolver{Dir: workdir.ModulesDir(r.Meta.Env), Product: r.Product}
	if hasCalls(dir) { // otherwise setting up fetchers and the store of modules would be wasted
		installer = r.Modules()
	}
	installer.CopiedFrom, installer.Observe, installer.DryRun = r.opts.fromModule, observe, r.opts.plan
	switch {
	case !r.opts.get:
		installer.Mode = modules.AsRecorded
	case r.opts.upgrade:
		installer.Mode = modules.Upgrade
	}
	return dir.FindModules(r.Meta.Context, installer)
}

// checkFit checks that the modules accept this version of the product, and logs the errors of the modules and the backend.
func checkFit(r request, dir *workdir.Dir, backendProblems problem.List) bool {
	if unfit := dir.Tree.CheckVersion(); unfit.HasErrors() {
		r.Log.All = nil // the other errors may not exist in the version that the modules need
		return r.Log.Add(products.ExplainVersion(r.Meta, r.Product, unfit)...)
	}
	return r.Log.Add(checkConfiguration(r, dir, backendProblems)...)
}

// hasCalls reports whether the root module or its tests call modules.
func hasCalls(dir *workdir.Dir) bool { return len(dir.Root.Calls)+len(dir.Root.TestRuns) > 0 }

// checkConfiguration returns the errors of the backend and the configuration,
// with the product's preamble if it prints one.
func checkConfiguration(r request, dir *workdir.Dir, backendProblems problem.List) problem.List {
	problems := slices.Concat(backendProblems, dir.RootProblems, dir.ModuleProblems, dir.ProviderProblems)
	if r.opts.get && hasCalls(dir) || !slices.Concat(dir.RootProblems, dir.ModuleProblems, dir.ProviderProblems).HasErrors() {
		return problems // errors of installing modules have no preamble
	}
	at := slices.IndexFunc(backendProblems, func(p *problem.Problem) bool { return p.Subject != nil })
	if at < 0 {
		at = len(backendProblems) // no error is about the configuration
	}
	return slices.Insert(problems, at, new(products.Of(r.Product).Preamble))
}

// checkRoot returns the errors of the root module, for products that check it before the backend.
func checkRoot(r request, dir *workdir.Dir) problem.List {
	manner := products.Of(r.Product)
	if !manner.RootFirst {
		return nil
	}
	problems := products.ExplainVersion(r.Meta, r.Product, dir.Root.CheckVersion())
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

// checkModules compares the modules with their lock file. It refuses a module with other content than
// the locked one, except with -upgrade.
func checkModules(r request, dir *workdir.Dir) bool {
	var again func(context.Context, modules.Record) (modules.Fetched, error)
	if hasCalls(dir) && r.opts.readonlyBy == "" { // otherwise nothing is recorded
		again = r.Modules().Again
	}
	differ, problems := dir.CompareModules(r.Meta.Context, again)
	if !r.Log.Add(problems...) {
		return false
	}
	for _, finding := range differ {
		problems = append(problems, checkModule(r, dir, finding)...)
	}
	if dir.ModuleProblems = append(dir.ModuleProblems, problems...); r.opts.readonlyBy != "" {
		dir.ToLock = nil
	}
	return r.Log.Add(problems...)
}

// checkModule returns an error if a module may not differ from its lock.
func checkModule(r request, dir *workdir.Dir, finding modulelock.Finding) problem.List {
	switch {
	case workdir.HasOtherContent(finding) && !r.opts.upgrade:
		return problem.Fail("module_changed", "Module doesn't match its lock file",
			"The module %s, from %s, is not what %s records: %s.\n\nA tag may have been moved, an archive replaced, or the files in %s changed. "+
				"Find out who has changed it. If it is what you want, run \"%[6]s init -upgrade\", which fetches the module again and records it; if it isn't, remove that directory.",
			finding.Key, finding.Locked.Source, modulelock.FileName, workdir.ModuleChange(finding),
			dir.ModuleDir(finding.Key, workdir.ModulesDir(r.Meta.Env)), r.Called)
	case r.opts.readonlyBy != "":
		return problem.Fail("module_changed", "Modules differ from their lock file",
			"%s forbids changes of lock files, and %s would have to be changed: %s.\n\nRun \"%s init\" without it, and commit the file.",
			r.opts.readonlyBy, modulelock.FileName, workdir.ModuleChange(finding), r.Called)
	default:
		return nil
	}
}

// requirements finds out which providers are needed. With -lockfile=readonly it also checks the lock file, before
// any request is sent. With -check, an incomplete lock file is no error, but a reason to run init.
func requirements(r request, dir *workdir.Dir, record *backend.Record) (getproviders.Requirements, bool) {
	required, problems := findRequired(r, dir, record)
	if ok := r.Log.Add(problems...); !ok || r.opts.check {
		return required, ok
	}
	warnSameTypes(r, required)
	for _, refusal := range r.Policy.CheckOverrides(r.overriddenBy, required.Providers()) {
		r.Log.Fail("refused_by_policy", "A provider bypasses the policy",
			"Provider %s: %v.\n\nTo install it as a package, take it out of dev_overrides in the CLI configuration, and out of the variable %s.",
			r.Short(refusal.Provider), refusal, sources.ReattachVariable)
	}
	return required, checkReadonly(r, dir.Locks, required)
}

// warnSameTypes warns of providers of the same type in the namespaces hashicorp and opentofu.
func warnSameTypes(r request, required getproviders.Requirements) {
	if !products.Of(r.Product).Guesses {
		return
	}
	alike := map[string][]string{}
	for _, p := range required.Providers() {
		if p.Namespace == "hashicorp" || p.Namespace == "opentofu" {
			alike[p.Type] = append(alike[p.Type], r.Short(p))
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(alike)) {
		if len(alike[typ]) > 1 {
			r.Log.Warningf("", "Potential provider misconfiguration",
				"There are several providers of the type %s: %s. If that isn't what you want, one of the modules or the state names the wrong one.",
				typ, strings.Join(alike[typ], ", "))
		}
	}
}

// findRequired returns the required providers, and warns if the state may need others.
func findRequired(r request, dir *workdir.Dir, record *backend.Record) (getproviders.Requirements, problem.List) {
	required, known, problems := dir.Requirements(r.Meta, r.opts.stateFile, record)
	if known || !dir.Locks.Empty() || r.opts.backend.with != "" {
		return required, problems
	}
	switch {
	case record.IsLocal():
		problems = append(problems, problem.Warningf("", "Providers that only the state needs may be missing",
			"The state is encrypted, and only %s reads it; no lock file says what it needs. "+
				"If plan says that a provider is missing, run \"%[3]s init -with=%[2]s\", which asks for the state, or \"%[2]s state pull | %[3]s init -state=-\".",
			r.Name, r.Program, r.Called))
	case record.Type != "inmem":
		problems = append(problems, problem.Warningf("", "Providers that only the state needs may be missing",
			"The backend %q keeps the state, and wasn't asked; no lock file says what the state needs. "+
				"If plan says that a provider is missing, run \"%s init -with=%s\", which asks for the state, or hand the state over with -state=FILE, where - is standard input.",
			record.Type, r.Called, r.Program))
	}
	return required, problems
}

// checkReadonly compares the lock file with the requirements if it must not change.
func checkReadonly(r request, locks *depsfile.Locks, required getproviders.Requirements) bool {
	if r.opts.readonlyBy == "" {
		return r.Log.Add()
	}
	var changes []string
	var unhashed []getproviders.Provider
	in := providercache.Installer{Fetcher: &providercache.Fetcher{Product: r.Product}, Skip: r.skip}
	_, reasons := in.CheckLocks(required, locks)
	for _, reason := range reasons {
		name := r.Short(reason.Provider)
		lock, _ := locks.Provider(reason.Provider)
		switch reason.Code {
		case "lock_missing_provider":
			changes = append(changes, "there is no entry for "+name)
		case "constraint_unsatisfied":
			changes = append(changes, fmt.Sprintf("%s is locked at %s, but has to be %s", name, lock.Version, required.Constraints(reason.Provider)))
		case "lock_extra_provider":
			changes = append(changes, name+" has an entry, but is not required any more")
		case "lock_without_hash":
			if len(lock.Hashes) > 0 {
				unhashed = append(unhashed, reason.Provider)
			}
		}
	}
	if len(changes) > 0 {
		what := fmt.Sprintf("The lock file %s would have to change, but %s forbids it", depsfile.FileName, r.opts.readonlyBy)
		if _, err := os.Stat(depsfile.FileName); errors.Is(err, fs.ErrNotExist) {
			what = fmt.Sprintf("There is no lock file %s, and with %s none is written", depsfile.FileName, r.opts.readonlyBy)
		}
		r.Log.Fail("lock_file_outdated", "Provider dependency changes detected",
			"%s:%s\n\n"+
				"To record what is required now, run \"%s init\" without it. A version that is locked already "+
				"changes only with -upgrade.",
			what, problem.Items(changes), r.Called)
	}
	return hashesMissing(r, unhashed)
}

func hashesMissing(r request, providers []getproviders.Provider) bool {
	if len(providers) == 0 {
		return r.Log.Add()
	}
	platform := getproviders.CurrentPlatform()
	return r.Log.Fail("lock_file_outdated", "Incomplete lock file information for providers",
		"The lock file %s has no h1 checksum for %s of:%s\n\n"+
			"Without it \"%s plan\" refuses the package, and %s allows no addition. To add it, run:\n"+
			"  %[6]s providers lock -from=config -platform=%[2]s",
		depsfile.FileName, platform, problem.Items(result.Each(providers, r.Short)), r.Program, r.opts.readonlyBy, r.Called)
}
