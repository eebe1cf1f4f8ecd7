package initcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/roots"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// assess goes through the phases of an init until one of them has an error, and returns what they would do. ok is false after an
// error. It writes nothing. With -check it sends no request: it compares modules and providers with what is
// recorded, locked and installed. With -plan it asks registries, but downloads no archive.
func assess(r request, dir *workdir.Dir) (found view.InitPlan, ok bool) {
	if dir.Empty() {
		return found, r.Log.Add(r.opts.roots.NoConfiguration(r.Meta, r.Product, roots.ForAll))
	}
	found.Complete = true
	record, problems := workdir.ReadRecord(r.Meta.Env, r.Product)
	if !r.Log.Add(problems...) {
		return found, false
	}
	reasons, problems := checkBackend(r, dir, record)
	found.Others = append(checkPluginDirs(r), reasons...)
	aliasCloud(r, dir)
	if !assessModules(r, dir, problems, &found) {
		return found, false
	}
	if found.Complete && len(found.Modules) == 0 { // otherwise some modules can't be compared
		differ, problems := dir.CompareModules(r.Meta.Context, nil)
		if !r.Log.Add(problems...) {
			return found, false
		}
		for _, f := range differ {
			found.Others = append(found.Others, view.CheckReason{Code: "module_differs", Module: f.Key, Detail: workdir.ModuleChange(f)})
		}
	}
	required, ok := requirements(r, dir, record)
	return found, ok && assessProviders(r, dir, required, &found)
}

// assessModules adds modules that differ from modules.json, and with -plan those that would be fetched.
func assessModules(r request, dir *workdir.Dir, backendProblems problem.List, found *view.InitPlan) bool {
	if r.opts.check && !r.Log.Add(backendProblems...) {
		return false
	}
	var reasons []view.CheckReason
	var problems problem.List
	if r.opts.check || r.opts.get {
		reasons, problems = checkInstalledModules(r, dir)
	}
	if r.opts.check {
		// Modules that are missing may call others, and require providers.
		found.Complete = !slices.ContainsFunc(reasons, func(reason view.CheckReason) bool { return reason.Module != "" })
		found.Others = append(found.Others, reasons...)
		return r.Log.Add(problems...)
	}
	problems = findModules(r, dir, func(e modules.Event) { // findModules reports the problems, too
		if planned, ok := e.(modules.Planned); ok {
			found.Complete = found.Complete && planned.Certain
			found.Modules = append(found.Modules, planned)
		}
	})
	for _, reason := range reasons {
		if !slices.ContainsFunc(found.Modules, func(m modules.Planned) bool { return m.Key == reason.Module }) {
			found.Others = append(found.Others, reason)
		}
	}
	return r.Log.Add(problems...) && checkFit(r, dir, backendProblems)
}

// assessProviders compares required, locked and installed providers, and adds what init would do about each required one.
func assessProviders(r request, dir *workdir.Dir, required getproviders.Requirements, found *view.InitPlan) bool {
	if r.opts.plan && !connectSources(r, required) {
		return false
	}
	in := newInstaller(r, dir.Locks, required)
	about := map[getproviders.Provider]*view.PlannedProvider{}
	for p := range required {
		about[p] = new(view.PlannedProvider)
	}
	in.Fetcher.Observe = func(_ context.Context, e event.Event) {
		if e.Kind == event.LeftOut {
			about[e.Provider].LeftOut = e.LeftOut
		}
	}
	var planned providercache.Plan
	if r.opts.plan {
		var err error
		if planned, err = in.Plan(r.Meta.Context, required, dir.Locks, selectionMode(r)); err == nil {
			err = measure(r, dir.Locks, required, in.Fetcher, planned.Fetch, about)
		}
		if err != nil {
			return explainFailure(r, dir, required, err)
		}
	}
	status, err := in.Check(r.Meta.Context, required, dir.Locks)
	if err != nil {
		return r.Log.Fail("vendored", "Can't compare what is installed", "%v", err)
	}
	for _, reason := range status.Reasons {
		if r.opts.check {
			reason = r.Policy.Explain(reason, dir.Locks)
		}
		shown := view.CheckReason{Code: reason.Code, Provider: reason.Provider, Detail: reason.Detail}
		switch of := about[reason.Provider]; {
		case of != nil && r.opts.plan:
			of.Reasons = append(of.Reasons, shown)
		case of != nil || found.Complete: // otherwise a missing module may require it
			found.Others = append(found.Others, shown)
		}
	}
	if r.opts.plan {
		addProviders(dir.Locks, required, planned, about, found)
		return true
	}
	refused := r.Policy.CheckOverrides(r.overriddenBy, required.Providers())
	for _, refusal := range append(refused, r.Policy.CheckLocks(dir.Locks, required.Providers())...) {
		found.Others = append(found.Others, view.CheckReason{Code: "package_refused", Provider: refusal.Provider, Detail: refusal.Error()})
	}
	return true
}

// measure sets the size, the source and the location of the archives that would be fetched.
func measure(r request, locks *depsfile.Locks, required getproviders.Requirements, fetcher *providercache.Fetcher, fetches []providercache.PlannedFetch, about map[getproviders.Provider]*view.PlannedProvider) error {
	if len(fetches) == 0 {
		return nil
	}
	req := providercache.LockRequest{
		Requirements: getproviders.Requirements{}, Locks: locks, Upgrade: map[getproviders.Provider]getproviders.Version{},
		Platforms: []getproviders.Platform{getproviders.CurrentPlatform()}, Sizes: r.opts.offlineBy == "",
	}
	for _, f := range fetches {
		about[f.Provider].PlannedFetch = f
		req.Requirements[f.Provider], req.Upgrade[f.Provider] = required[f.Provider], f.Version
	}
	located, err := fetcher.Locate(r.Meta.Context, req)
	if err != nil {
		return err
	}
	for _, p := range located[0].Packages {
		f := about[p.Provider]
		f.Source, f.From = p.Package.Source, cmp.Or(p.Package.ShortSource, p.Package.Source)
		f.Location, f.Bytes = filepath.ToSlash(p.Package.Location.String()), cmp.Or(p.Bytes, f.Bytes)
	}
	return nil
}

// addProviders adds the providers in the order of their addresses, each with its action and what is known about it.
func addProviders(locks *depsfile.Locks, required getproviders.Requirements, planned providercache.Plan, about map[getproviders.Provider]*view.PlannedProvider, found *view.InitPlan) {
	add := func(s getproviders.Selection, action string) {
		p := about[s.Provider]
		p.Selection, p.Action = s, action
		if lock, ok := locks.Provider(s.Provider); ok {
			if p.Was = lock.Version; p.Was != p.Version && required.Constraints(s.Provider).Allows(lock.Version) {
				p.Reasons = []view.CheckReason{{Code: "provider_upgrade", Provider: s.Provider, Detail: fmt.Sprintf("version %s is locked, and -upgrade selects %s in its place", lock.Version, p.Version)}}
			}
		}
		found.Providers = append(found.Providers, *p)
	}
	for _, s := range planned.Present {
		add(s, view.PlanPresent)
	}
	for _, s := range planned.Link {
		add(s, view.PlanLink)
	}
	for _, f := range planned.Fetch {
		add(f.Selection, view.PlanFetch)
	}
	for _, p := range planned.BuiltIn {
		add(getproviders.Selection{Provider: p}, view.PlanBuiltIn)
	}
	slices.SortStableFunc(found.Providers, func(a, b view.PlannedProvider) int { return a.Provider.Compare(b.Provider) })
}

// checkPluginDirs compares the values of -plugin-dir with the recorded ones.
func checkPluginDirs(r request) []view.CheckReason {
	path, record := pluginDirs(r)
	_, err := os.Lstat(path)
	if !r.opts.pluginDirGiven || record == nil && errors.Is(err, fs.ErrNotExist) || record != nil && wholefile.Has(path, record) {
		return nil
	}
	return []view.CheckReason{{Code: "plugin_dirs_changed", Detail: "-plugin-dir has other values than those that are recorded"}}
}

// checkBackend compares the backend with its record.
func checkBackend(r request, dir *workdir.Dir, record *backend.Record) ([]view.CheckReason, problem.List) {
	if !r.opts.backend.initialize {
		return nil, nil
	}
	b := backendState{request: r, block: dir.Root.Backend, record: record}
	config, change, problems := b.compare(record)
	if problems.HasErrors() {
		return nil, problems
	}
	path := filepath.ToSlash(workdir.RecordPath(r.Meta.Env))
	because := func(code, format string, args ...any) ([]view.CheckReason, problem.List) {
		return []view.CheckReason{{Code: code, Detail: fmt.Sprintf(format, args...)}}, problems
	}
	switch change {
	case backend.Added:
		return because("backend_uninitialized", "the backend %q isn't recorded in %s", config.Type, path)
	case backend.Removed:
		return because("backend_removed", "the backend %q is recorded, and the configuration has none", record.Type)
	case backend.Changed, backend.Replaced:
		return because("backend_changed", "the backend isn't the one that is recorded in %s", path)
	case backend.Rehashed:
		return because("backend_changed", "the block has the recorded settings in another form, and the record would be written again")
	case backend.Unchanged:
		missing, others, more := missingWorkspace(r, record)
		switch problems = append(problems, more...); {
		case others:
			return nil, append(problems, doesNotExist(r, missing))
		case missing != "":
			return because("workspace_missing", "the selected workspace %q doesn't exist, and the default one would be selected", missing)
		}
	}
	return nil, problems
}

// checkInstalledModules compares the configuration with the modules in modules.json.
func checkInstalledModules(r request, dir *workdir.Dir) (reasons []view.CheckReason, problems problem.List) {
	if reasons, problems = dir.CheckRecorded(r.Meta, workdir.ModulesDir(r.Meta.Env)); problems.HasErrors() {
		return nil, problems
	}
	if problems := products.ExplainVersion(r.Meta, r.Product, dir.Problems()); problems.HasErrors() {
		return nil, problems
	}
	if len(reasons) > 0 || len(dir.Root.Calls) == 0 {
		return reasons, nil
	}
	path := filepath.Join(workdir.ModulesDir(r.Meta.Env), modules.ManifestName)
	if !wholefile.Has(path, dir.Tree.Manifest.Encode()) {
		reasons = append(reasons, view.CheckReason{Code: "module_record_differs", Detail: filepath.ToSlash(path) + " would be written again"})
	}
	return reasons, nil
}
