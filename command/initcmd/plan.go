package initcmd

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// plan is init -plan: it tells what an init would fetch, from where, how large it is and why. Registries are
// asked; no archive is requested, and nothing is written. What would keep an init from succeeding is an
// error. It returns the exit code.
func plan(r request) int {
	found, ok := makePlan(r)
	if !ok {
		return failed(r)
	}
	r.view.Problems(r.log.All)
	r.view.Planned(found)
	if !found.IsEmpty() {
		return cli.ExitDiffers
	}
	return 0
}

// makePlan goes through the phases of an init, until one of them has an error. It reports whether none had.
func makePlan(r request) (found view.InitPlan, ok bool) {
	found.Complete = true
	settings, ok := readSettings(r)
	if !ok {
		return found, false
	}
	var problems problem.List
	if settings.net, problems = sources.Connect(r.meta, r.product, settings.config, r.opts.offlineBy); !r.log.Add(problems...) {
		return found, false
	}
	dir := workdir.Load(r.meta, r.product, ".", r.opts.modules)
	if dir.Empty() {
		return found, true
	}
	if !r.log.Add(dir.LoadLocks()...) || !r.log.Add(checkRoot(r, dir)...) || !r.log.Add(checkEncryption(r, dir)...) {
		return found, false
	}
	record, problems := workdir.ReadRecord(r.meta.Env, r.product)
	if !r.log.Add(problems...) {
		return found, false
	}
	reasons, backendProblems := checkBackend(r, dir, record)
	found.Others = append(checkPluginDirs(r), reasons...)
	if !planModules(r, settings, dir, backendProblems, &found) {
		return found, false
	}
	in := installation{request: r, settings: settings, dir: dir}
	defer func() { in.mirrors.Close() }()
	in.required, ok = requirements(r, settings, dir, record)
	return found, ok && in.planProviders(&found)
}

// planModules adds the modules that would be fetched, and what else would be recorded of modules.
func planModules(r request, settings settings, dir *workdir.Dir, backendProblems problem.List, found *view.InitPlan) bool {
	if r.opts.get {
		reasons, problems := checkInstalledModules(r, dir)
		if problems.HasErrors() {
			reasons = nil // the look below tells what is wrong
		}
		found.Others = append(found.Others, reasons...)
	}
	if !r.log.Add(findPlanned(r, settings.net, dir, found)...) {
		return false
	}
	found.Others = slices.DeleteFunc(found.Others, func(reason view.CheckReason) bool {
		return slices.ContainsFunc(found.Modules, func(m view.PlannedModule) bool { return m.Key == reason.Module })
	})
	if unfit := dir.Tree.CheckVersion(r.product); unfit.HasErrors() {
		r.log.All = nil // as init
		return r.log.Add(products.ExplainVersion(r.meta, r.product, unfit)...)
	}
	if !r.log.Add(checkConfiguration(r, dir, backendProblems)...) {
		return false
	}
	reasons, problems := checkModuleLock(r, dir, len(found.Modules) > 0)
	found.Others = append(found.Others, reasons...)
	return r.log.Add(problems...)
}

// findPlanned finds the modules of the configuration, without fetching any.
func findPlanned(r request, net sources.Network, dir *workdir.Dir, found *view.InitPlan) problem.List {
	installer, fetcher := net.Modules(r.meta, r.product)
	defer fetcher.Close()
	locks, problems := workdir.LoadModuleLocks(r.meta.Context, r.opts.lockModules)
	if problems.HasErrors() {
		return problems
	}
	locks.Prefer(&installer)
	installer.DryRun = true
	switch {
	case !r.opts.get:
		installer.Mode = modules.AsRecorded
	case r.opts.upgrade:
		installer.Mode = modules.Upgrade
	}
	installer.Observe = func(e modules.Event) {
		planned, ok := e.(modules.Planned)
		if !ok {
			return
		}
		found.Complete = found.Complete && planned.Certain
		found.Modules = append(found.Modules, view.PlannedModule{
			Key: planned.Key, Package: planned.Package, Version: planned.Version, Was: planned.Was, Code: string(planned.Code),
		})
	}
	return dir.FindModules(r.meta.Context, installer)
}

// planProviders adds what would become of each required provider.
func (in *installation) planProviders(found *view.InitPlan) bool {
	if !in.connect() {
		return false
	}
	mode := resolve.Normal
	if in.opts.upgrade {
		mode = resolve.Upgrade
	}
	installer := in.installer()
	installer.Fetcher.Observe = nil
	planned, err := installer.Plan(in.meta.Context, in.required, in.dir.Locks, mode)
	if err == nil {
		err = in.measure(installer, planned.Fetch)
	}
	if err != nil {
		in.explainMissing(err)
		return in.log.Add(explain.InstallProblems(in.product, in.required, err, in.suggest)...)
	}
	status, err := installer.Check(in.meta.Context, in.required, in.dir.Locks)
	if err != nil {
		return in.log.Fail("vendored", "Can't compare what is installed", "%v", err)
	}
	reasons := map[getproviders.Provider][]view.CheckReason{}
	for _, reason := range status.Reasons {
		shown := view.CheckReason{Code: reason.Code, Provider: reason.Provider, Detail: reason.Detail}
		if _, required := in.required[reason.Provider]; required {
			reasons[reason.Provider] = append(reasons[reason.Provider], shown)
		} else if found.Complete { // else a module may require it
			found.Others = append(found.Others, shown)
		}
	}
	in.addProviders(planned, reasons, found)
	return true
}

// measure finds out how large the archives are that would be fetched, and what their sources say of them.
func (in *installation) measure(installer *providercache.Installer, fetches []providercache.PlannedFetch) error {
	if len(fetches) == 0 {
		return nil
	}
	req := lockhashes.Request{
		Requirements: getproviders.Requirements{}, Locks: in.dir.Locks, Upgrade: map[getproviders.Provider]getproviders.Version{},
		Platforms: []getproviders.Platform{getproviders.CurrentPlatform()},
	}
	for _, f := range fetches {
		req.Requirements[f.Provider], req.Upgrade[f.Provider] = in.required[f.Provider], f.Version
	}
	located, err := lockhashes.Locate(in.meta.Context, installer.Fetcher, lockhashes.LocateOptions{Sizes: in.opts.offlineBy == ""}, req)
	if err != nil {
		return err
	}
	for _, p := range located[0].Packages {
		for i := range fetches {
			if f := &fetches[i]; f.Provider == p.Selection.Provider {
				f.Source, f.Location = p.Package.Source, p.Package.Location.String()
				if p.Size >= 0 {
					f.Bytes = p.Size
				}
			}
		}
	}
	return nil
}

// addProviders adds the providers in the order of their addresses, each with the reasons for what would be done.
func (in *installation) addProviders(planned providercache.Plan, reasons map[getproviders.Provider][]view.CheckReason, found *view.InitPlan) {
	add := func(s resolve.Selection, p view.PlannedProvider) {
		p.Provider, p.Version, p.Reasons = s.Provider, s.Version.String(), reasons[s.Provider]
		if lock, ok := in.dir.Locks.Provider(s.Provider); ok {
			if p.Locked = lock.Version.String(); p.Locked != p.Version && in.required.Constraints(s.Provider).Allows(lock.Version) {
				p.Reasons = []view.CheckReason{{Code: "provider_upgrade", Provider: s.Provider, Detail: fmt.Sprintf("version %s is locked", lock.Version)}}
			}
		}
		found.Providers = append(found.Providers, p)
	}
	for _, s := range planned.Present {
		add(s, view.PlannedProvider{Action: view.PlanPresent})
	}
	for _, s := range planned.Link {
		add(s, view.PlannedProvider{Action: view.PlanLink})
	}
	for _, f := range planned.Fetch {
		add(f.Selection, view.PlannedProvider{Action: view.PlanFetch, Source: f.Source, Location: filepath.ToSlash(f.Location), Bytes: f.Bytes})
	}
	for _, p := range planned.BuiltIn {
		found.Providers = append(found.Providers, view.PlannedProvider{Provider: p, Action: view.PlanBuiltIn, Reasons: reasons[p]})
	}
	slices.SortStableFunc(found.Providers, func(a, b view.PlannedProvider) int { return a.Provider.Compare(b.Provider) })
}
