package initcmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/spelling"
	"github.com/tfdeps/tfdeps/providercache"
)

// connect makes the sources of providers.
func (in *installation) connect() bool {
	if !in.opts.looks() {
		in.view.ProvidersBegin()
	}
	announceOverrides(in.request, in.settings)
	for _, p := range in.required.Providers() {
		if by := in.settings.overriddenBy(p); by != "" {
			in.view.Overridden(p, by)
		}
	}
	from := in.from(in.settings.net)
	var problems problem.List
	if in.mirrors, problems = from.OpenMirrors(in.meta, in.opts.mirrors); !in.log.Add(problems...) {
		return false
	}
	from.Mirrors = in.mirrors
	var err error
	if in.source, err = from.All(in.meta); err != nil {
		return in.log.Fail("cli_configuration", "Can't search for providers", "%v", err)
	}
	return true
}

// from says where providers come from.
func (in *installation) from(net sources.Network) sources.Options {
	return sources.Options{
		Net: net, Config: in.settings.config, Product: in.product,
		PluginDirs: in.opts.pluginDirs, Fallback: in.settings.fallback, Cached: in.cached, MirrorsFirst: in.opts.mirrorFallback != "",
	}
}

// cached tells which packages on this machine would do, where there is no network.
func (in *installation) cached(p getproviders.Provider) []getproviders.CachedPackage {
	wanted := in.required.Constraints(p)
	return slices.DeleteFunc(in.installer().KnownPackages(p), func(k getproviders.CachedPackage) bool { return !wanted.Allows(k.Version) })
}

// mode is how versions are chosen.
func (in *installation) mode() providercache.Mode {
	if in.opts.upgrade {
		return providercache.Upgrade
	}
	return providercache.Normal
}

// installer makes what installs packages.
func (in *installation) installer() *providercache.Installer {
	r, s := in.request, in.settings
	installer := &providercache.Installer{
		Fetcher: s.net.Fetcher(r.meta, r.product, in.source, r.view.Observe),
		Target:  &providercache.Store{Dir: workdir.ProvidersDir(r.meta.Env, "")},
		Skip:    s.skip,
		Cache:   s.cache,
		Link:    s.link,
	}
	installer.Fetcher.Verify, installer.Fetcher.StrictTimes, installer.Fetcher.HashPolicy = r.opts.verify, r.opts.strictTimes, r.opts.hashes
	if s.cache == nil && !r.opts.looks() {
		installer.Fetcher.ArchiveDir = r.session.ArchiveDir(r.meta)
	}
	installer.Fetcher.Choice = s.policy.Versions()
	installer.Fetcher.Policy = s.policy.Against(in.dir.Locks, func(p getproviders.Provider) getproviders.Version {
		return sources.Newest(installer.KnownPackages(p), in.required.Constraints(p).Allows)
	})
	return installer
}

// install installs the required providers, and records the result in the lock
// file.
func (in *installation) install() bool {
	installer := in.installer()
	locks, report, err := installer.Install(in.meta.Context, in.required, in.dir.Locks, in.mode())
	in.log.Add(in.view.ProvidersEnd()...)
	if err != nil {
		in.inferred(err)
		return in.explain(err)
	}
	if in.product.Predecessor != nil || !in.product.IsSince("1.16") { // which only sets apart what is said of the lock file
		in.view.PhaseEnd()
	}
	in.chosenOffline(report)
	in.notShared(report)
	return in.record(installer.Fetcher, locks, report)
}

// explain tells why providers can't be installed.
func (in *installation) explain(err error) bool {
	in.explainMissing(err)
	in.explainSpace(err)
	in.recallVersions(err)
	return in.log.Add(explain.InstallProblems(in.product, in.required, err, in.suggest)...)
}

// explainMissing adds to errors about providers that a registry or the mirrors of -mirror don't have why that may be.
func (in *installation) explainMissing(err error) {
	var all []*getproviders.Fault
	for _, part := range getproviders.SplitErrors(err) {
		switch missing := getproviders.FaultOf(part, getproviders.ErrProviderNotFound); {
		case missing == nil || missing.Hint != "":
		case missing.Registry:
			all = append(all, missing)
		case in.mirrors != nil && len(in.mirrors.Opened) > 0 && in.opts.mirrorFallback == "":
			missing.Hint = "the mirrors of -mirror or TFDEPS_MIRROR are the only sources; -mirror-fallback=stop has the others asked after them"
		}
	}
	if len(all) == 0 {
		return
	}
	known := in.knownProviders(all)
	for _, missing := range all {
		missing.Hint = in.source.Describe(missing.Provider).ExplainMissing(in.meta.Context, missing.Provider)
		if meant := spelling.Closest(in.product.Short(missing.Provider), known); meant != "" && missing.Hint == "" {
			missing.Hint = fmt.Sprintf("did you mean %s?", meant)
		}
	}
}

// recallVersions adds to what isn't on this machine which versions there were when an earlier run asked.
func (in *installation) recallVersions(err error) {
	missing := cause.NotCached(err)
	if len(missing) == 0 || len(in.opts.mirrors) > 0 {
		return
	}
	source, err := in.from(sources.Recalled(in.meta, in.settings.config, in.opts.offlineBy)).All(in.meta)
	for _, m := range missing {
		if err == nil && m.Version == (getproviders.Version{}) {
			available, _ := source.Versions(in.meta.Context, m.Provider)
			m.Listed = available.Versions
		}
	}
}

// inferred warns of providers that a registry doesn't have, and that nothing but the type of a
// resource names: the type may be what is wrong.
func (in *installation) inferred(err error) {
	if !products.Of(in.product).Guesses {
		return
	}
	for _, part := range getproviders.SplitErrors(err) {
		failed, ok := getproviders.Failure(part)
		missing := getproviders.FaultOf(part, getproviders.ErrProviderNotFound)
		if !ok || missing == nil || !missing.Registry {
			continue
		}
		var users []load.Inferred
		named := false
		for _, module := range in.dir.Tree.Modules {
			users = append(users, module.Config.Inferred()...)
			named = named || module.Config.HasEntryFor(failed.Provider)
		}
		at := slices.IndexFunc(users, func(u load.Inferred) bool { return u.Provider == failed.Provider })
		if at < 0 || named {
			continue
		}
		in.log.Add(problem.At(users[at].Range, problem.Warningf("provider_not_found", "Automatically-inferred provider dependency",
			"The type of %s begins with %q, and no entry of required_providers has that name. That it means %s is a guess, and there is no such provider.\n\n"+
				"If the type is right, say which provider it is: by an entry %[2]q in required_providers, or by the argument \"provider\" of the block.",
			users[at].Address, failed.Provider.Type, in.product.Short(failed.Provider))))
	}
}

// knownProviders are the addresses of all providers that this machine knows, but those that are missing: the ones of
// the configuration, the lock file and the shared cache.
func (in *installation) knownProviders(missing []*getproviders.Fault) (known []string) {
	all := in.required.Providers()
	for _, lock := range in.dir.Locks.All() {
		all = append(all, lock.Provider)
	}
	if in.settings.cache != nil {
		packages, _ := (&providercache.Maintenance{Cache: in.settings.cache, StateDir: in.meta.StateDir, Now: in.meta.Now}).List()
		for _, p := range packages {
			all = append(all, p.Provider)
		}
	}
	for _, p := range all {
		if !slices.ContainsFunc(missing, func(m *getproviders.Fault) bool { return m.Provider == p }) {
			known = append(known, in.product.Short(p))
		}
	}
	return known
}

// announceOverrides warns of providers that aren't what the configuration and
// the lock file say. Of those that run already Terraform does so since 1.16.
func announceOverrides(r request, s settings) {
	overridden, running := "", ""
	for _, p := range slices.SortedFunc(maps.Keys(s.skip), getproviders.Provider.Compare) {
		if dir, ok := s.config.DevOverrides[p]; ok {
			overridden += fmt.Sprintf("\n - %s in %s", r.product.Short(p), dir)
		} else {
			running += "\n - " + r.product.Short(p)
		}
	}
	if overridden != "" {
		r.log.Warningf("", "Provider development overrides are in effect",
			"The following provider development overrides are set in the CLI configuration:%s\n\n"+
				"These providers are not installed as part of init since they are in these directories, from which %s runs them. "+
				"What the lock file says of them stays as it is.", overridden, r.product.Program)
	}
	if running != "" && r.product.Predecessor == nil && r.product.IsSince("1.16") {
		r.log.Warningf("", "Unmanaged providers are in effect",
			"The following providers run already, as the environment variable %s says:%s\n\n"+
				"They are not installed, and what the lock file says of them stays as it is.", sources.ReattachVariable, running)
	}
}

// suggest finds the address that was meant by one that doesn't exist: that of
// another required provider of the same type, else what the registry knows.
func (in *installation) suggest(p getproviders.Provider) (explain.Suggestion, bool) {
	meant, ok := getproviders.Provider{}, false
	for _, other := range in.required.Providers() {
		if other.Type == p.Type && other != p && !ok {
			meant, ok = other, true
		}
	}
	if !ok {
		meant, ok = in.source.Describe(p).Suggest(in.meta.Context, p)
	}
	if !ok {
		return explain.Suggestion{}, false
	}
	available, err := in.source.Versions(in.meta.Context, meant)
	if err != nil {
		return explain.Suggestion{Provider: meant}, true // its own failure, if it matters, is reported elsewhere
	}
	return explain.Suggestion{Provider: meant, Versions: available.Versions}, true
}

// chosenOffline warns of versions that were chosen without asking sources that may
// have others.
func (in *installation) chosenOffline(report providercache.Report) {
	var chosen []string
	for _, o := range report.Outcomes {
		p := o.Provider
		if o.Locked {
			continue
		}
		var unasked []string
		for _, source := range in.source.Describe(p).Unasked {
			unasked = append(unasked, source.Source)
		}
		if len(unasked) > 0 {
			chosen = append(chosen, fmt.Sprintf("%s %s, without asking the %s", in.product.Short(p), o.Version, strings.Join(unasked, " and the ")))
		}
	}
	if len(chosen) > 0 {
		in.log.Warningf("", "Versions chosen offline among what is there",
			"The lock file has no entry for these providers, and %s allows no request, so that another version may be chosen where requests are allowed:%s",
			in.opts.offlineBy, problem.Items(chosen))
	}
}

// record saves what an installation has found out: where the modules are, and what
// is locked of modules and providers. With -lockfile=readonly it only says what
// would be locked.
func (in *installation) record(fetcher *providercache.Fetcher, locks *depsfile.Locks, report providercache.Report) bool {
	if !saveModules(in) {
		return false
	}
	if in.opts.readonly || in.opts.offline {
		if !in.log.Add(sources.LockRefusals(in.settings.policy.CheckLocks(locks, in.required.Providers()), in.product)...) {
			return false
		}
	}
	if in.opts.readonly {
		return in.log.Add(compareLocks(in.request, in.dir.Locks, locks, report)...)
	}
	locks, ok := in.lockPlatforms(fetcher, locks)
	return ok && saveLocks(in.request, in.dir, locks, report)
}

// saveModules records where the modules are, and locks what they are.
func saveModules(in *installation) bool {
	saved := in.log.Add(in.dir.SaveModules()...)
	if in.toLock == nil || in.opts.readonly {
		return saved
	}
	if err := in.toLock.Save(modulelock.FileName); err != nil {
		return in.log.Unsaved("module_record", "Failed to update the lock file for modules", err)
	}
	return saved
}

// saveLocks writes the lock file if it changes.
func saveLocks(r request, dir *workdir.Dir, locks *depsfile.Locks, report providercache.Report) bool {
	before := dir.Locks
	if locks.Equal(before) {
		return true
	}
	for _, o := range report.Outcomes {
		if lock, ok := locks.Provider(o.Selection.Provider); ok && dialect.Of(r.product).Understands("constraints_too") {
			lock.Constraints = o.Selection.Constraints
			locks.Extend(lock)
		}
	}
	saved, err := dir.SaveLocks(locks)
	if err == nil && !saved {
		return r.log.Fail("lock_file", "The lock file has changed meanwhile",
			"Another program has written %s since this run read it. What that program locked stays. Run init again.", depsfile.FileName)
	}
	if err != nil {
		return r.log.Unsaved("lock_file", "Failed to update dependency lock file", err)
	}
	if r.product.Predecessor == nil && r.product.IsSince("1.16") {
		r.view.PhaseEnd()
	}
	r.view.LockSaved(before.Empty())
	if len(report.Incomplete) > 0 {
		return r.log.Add(explain.IncompleteLock(r.product, report.Incomplete))
	}
	return true
}

// compareLocks says what would be written if the lock file could change. What
// plan refuses is an error: plan accepts a package only if the lock file has the
// hash of the package's files, or no hash at all.
func compareLocks(r request, before, locks *depsfile.Locks, report providercache.Report) problem.List {
	if locks.Equal(before) {
		return nil
	}
	var unhashed []getproviders.Provider
	for _, o := range report.Outcomes {
		old, ok := before.Provider(o.Selection.Provider)
		if ok && len(old.Hashes) > 0 && o.H1 != "" && !slices.Contains(old.Hashes, o.H1) {
			unhashed = append(unhashed, o.Selection.Provider)
		}
	}
	if len(unhashed) > 0 {
		return hashesMissing(r, unhashed)
	}
	return problem.Warn("", "Provider lock file not updated",
		"Changes to the provider selections were detected, but not saved in the %s file, because of "+
			"%s. To record them, run \"tfdeps init\" without it.",
		depsfile.FileName, r.opts.readonlyBy)
}

// lockPlatforms adds to new locks the hashes for the platforms that -platform names, and where
// requests are allowed for those that a policy requires. Their packages are kept nowhere. Nothing
// is recorded before: a lock file that is good for some of the platforms only isn't what was asked
// for.
func (in *installation) lockPlatforms(fetcher *providercache.Fetcher, locks *depsfile.Locks) (*depsfile.Locks, bool) {
	platforms, current := in.opts.otherPlatforms(), getproviders.CurrentPlatform()
	if !in.opts.offline {
		for _, plat := range in.settings.policy.Platforms() {
			if plat != current && !slices.Contains(platforms, plat) {
				platforms = append(platforms, plat)
			}
		}
	}
	if len(platforms) == 0 && !in.opts.allPlatforms {
		return locks, true
	}
	required := maps.Clone(in.required)
	maps.DeleteFunc(required, func(p getproviders.Provider, _ []getproviders.Requirement) bool {
		return in.settings.skip[p] || p.IsBuiltIn()
	})
	results, err := fetcher.Lock(in.meta.Context, providercache.LockRequest{
		Requirements: required, Locks: locks,
		Platforms: platforms, AllPlatforms: in.opts.allPlatforms,
		Done: []getproviders.Platform{current},
	})
	ok := in.log.Add(in.view.Activity.End()...)
	if err != nil {
		return nil, in.log.Add(explain.LockProblems(in.product, explain.LockedDir{Result: results[0]})...)
	}
	return results[0].Locks, ok
}
