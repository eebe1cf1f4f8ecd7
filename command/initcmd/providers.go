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
	"github.com/tfdeps/tfdeps/configs/cliconfig"
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
	in.announceOverrides()
	for _, p := range in.required.Providers() {
		if by := in.overriddenBy(p); by != "" {
			in.view.Overridden(p, by)
		}
	}
	all, ok := in.OpenSources(in.opts.mirrors, in.from())
	in.Source = all
	return ok
}

// from says where providers come from.
func (in *installation) from() cliconfig.SourceOptions {
	return cliconfig.SourceOptions{Dirs: in.opts.pluginDirs, Fallback: in.fallback, Cached: in.cached, MirrorsFirst: in.opts.mirrorFallback != ""}
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
	fetcher := in.Fetcher(in.view.Observe)
	fetcher.Verify, fetcher.StrictTimes, fetcher.HashPolicy = in.opts.verify, in.opts.strictTimes, in.opts.hashes
	if in.cache == nil && !in.opts.looks() {
		fetcher.ArchiveDir = in.ArchiveDir()
	}
	installer := &providercache.Installer{
		Fetcher: fetcher, Target: &providercache.Store{Dir: workdir.ProvidersDir(in.Meta.Env, "")}, Skip: in.skip, Cache: in.cache, Link: in.link,
	}
	fetcher.Policy = in.Policy.Against(in.dir.Locks, func(p getproviders.Provider) getproviders.Version {
		return sources.Newest(installer.KnownPackages(p), in.required.Constraints(p).Allows)
	})
	return installer
}

// install installs the required providers, and records the result in the lock
// file.
func (in *installation) install() bool {
	installer := in.installer()
	locks, report, err := installer.Install(in.Meta.Context, in.required, in.dir.Locks, in.mode())
	in.Log.Add(in.view.ProvidersEnd()...)
	if err != nil {
		in.inferred(err)
		return in.explain(err)
	}
	if !dialect.Of(in.Product).Understands("lock_apart") {
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
	return in.Log.Add(explain.InstallProblems(in.Product, in.required, err, in.suggest)...)
}

// explainMissing adds to errors about providers that a registry or the mirrors of -mirror don't have why that may be.
func (in *installation) explainMissing(err error) {
	var all []*getproviders.Fault
	for _, part := range getproviders.SplitErrors(err) {
		switch missing := getproviders.FaultOf(part, getproviders.ErrProviderNotFound); {
		case missing == nil || missing.Hint != "":
		case missing.Registry:
			all = append(all, missing)
		case len(in.Mirrors) > 0 && in.opts.mirrorFallback == "":
			missing.Hint = "the mirrors of -mirror or TFDEPS_MIRROR are the only sources; -mirror-fallback=stop has the others asked after them"
		}
	}
	if len(all) == 0 {
		return
	}
	known := in.knownProviders(all)
	for _, missing := range all {
		missing.Hint = in.Source.Describe(missing.Provider).ExplainMissing(in.Meta.Context, missing.Provider)
		if meant := spelling.Closest(in.Product.Short(missing.Provider), known); meant != "" && missing.Hint == "" {
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
	source, err := in.Config.Source(in.Meta.Context, sources.Recalled(in.Meta, in.Config, in.opts.offlineBy).Single(in.Product, in.from()))
	for _, m := range missing {
		if err == nil && m.Version.IsZero() {
			available, _ := source.Versions(in.Meta.Context, m.Provider)
			m.Listed = available.Versions
		}
	}
}

// inferred warns of providers that a registry doesn't have, and that nothing but the type of a
// resource names: the type may be what is wrong.
func (in *installation) inferred(err error) {
	if !products.Of(in.Product).Guesses {
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
		in.Log.Add(problem.At(users[at].Range, problem.Warningf("provider_not_found", "Automatically-inferred provider dependency",
			"The type of %s begins with %q, and no entry of required_providers has that name. That it means %s is a guess, and there is no such provider.\n\n"+
				"If the type is right, say which provider it is: by an entry %[2]q in required_providers, or by the argument \"provider\" of the block.",
			users[at].Address, failed.Provider.Type, in.Product.Short(failed.Provider))))
	}
}

// knownProviders are the addresses of all providers that this machine knows, but those that are missing: the ones of
// the configuration, the lock file and the shared cache.
func (in *installation) knownProviders(missing []*getproviders.Fault) (known []string) {
	all := in.required.Providers()
	for _, lock := range in.dir.Locks.All() {
		all = append(all, lock.Provider)
	}
	if in.cache != nil {
		packages, _ := in.Maintenance(in.cache).List()
		for _, p := range packages {
			all = append(all, p.Provider)
		}
	}
	for _, p := range all {
		if !slices.ContainsFunc(missing, func(m *getproviders.Fault) bool { return m.Provider == p }) {
			known = append(known, in.Product.Short(p))
		}
	}
	return known
}

// announceOverrides warns of providers that aren't what the configuration and
// the lock file say. Of those that run already Terraform does so since 1.16.
func (in *installation) announceOverrides() {
	overridden, running := "", ""
	for _, p := range slices.SortedFunc(maps.Keys(in.skip), getproviders.Provider.Compare) {
		if dir, ok := in.Config.DevOverrides[p]; ok {
			overridden += fmt.Sprintf("\n - %s in %s", in.Product.Short(p), dir)
		} else {
			running += "\n - " + in.Product.Short(p)
		}
	}
	if overridden != "" {
		in.Log.Warningf("", "Provider development overrides are in effect",
			"The following provider development overrides are set in the CLI configuration:%s\n\n"+
				"These providers are not installed as part of init since they are in these directories, from which %s runs them. "+
				"What the lock file says of them stays as it is.", overridden, in.Product.Program)
	}
	if running != "" && dialect.Of(in.Product).Understands("running_providers") {
		in.Log.Warningf("", "Unmanaged providers are in effect",
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
		meant, ok = in.Source.Describe(p).Suggest(in.Meta.Context, p)
	}
	if !ok {
		return explain.Suggestion{}, false
	}
	available, err := in.Source.Versions(in.Meta.Context, meant)
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
		for _, source := range in.Source.Describe(p).Unasked {
			unasked = append(unasked, source.Source)
		}
		if len(unasked) > 0 {
			chosen = append(chosen, fmt.Sprintf("%s %s, without asking the %s", in.Product.Short(p), o.Version, strings.Join(unasked, " and the ")))
		}
	}
	if len(chosen) > 0 {
		in.Log.Warningf("", "Versions chosen offline among what is there",
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
	if (in.opts.readonly || in.opts.offline) && !in.CheckLocks(locks, in.required.Providers()) {
		return false
	}
	if in.opts.readonly {
		return in.compareLocks(locks, report)
	}
	locks, ok := in.lockPlatforms(fetcher, locks)
	return ok && saveLocks(in.request, in.dir, locks, report)
}

// saveModules records where the modules are, and locks what they are.
func saveModules(in *installation) bool {
	saved := in.Log.Add(in.dir.SaveModules()...)
	if in.toLock == nil || in.opts.readonly {
		return saved
	}
	if err := in.toLock.Save(modulelock.FileName); err != nil {
		return in.Log.Unsaved("module_record", "Failed to update the lock file for modules", err)
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
		if lock, ok := locks.Provider(o.Selection.Provider); ok && dialect.Of(r.Product).Understands("constraints_too") {
			lock.Constraints = o.Selection.Constraints
			locks.Extend(lock)
		}
	}
	saved, err := dir.SaveLocks(locks)
	if err == nil && !saved {
		return r.Log.Fail("lock_file", "The lock file has changed meanwhile",
			"Another program has written %s since this run read it. What that program locked stays. Run init again.", depsfile.FileName)
	}
	if err != nil {
		return r.Log.Unsaved("lock_file", "Failed to update dependency lock file", err)
	}
	if dialect.Of(r.Product).Understands("lock_apart") {
		r.view.PhaseEnd()
	}
	r.view.LockSaved(before.Empty())
	if len(report.Incomplete) > 0 {
		return r.Log.Add(explain.IncompleteLock(r.Product, report.Incomplete))
	}
	return true
}

// compareLocks says what would be written if the lock file could change. What
// plan refuses is an error: plan accepts a package only if the lock file has the
// hash of the package's files, or no hash at all.
func (in *installation) compareLocks(locks *depsfile.Locks, report providercache.Report) bool {
	before := in.dir.Locks
	if locks.Equal(before) {
		return in.Log.Add()
	}
	var unhashed []getproviders.Provider
	for _, o := range report.Outcomes {
		old, ok := before.Provider(o.Selection.Provider)
		if ok && len(old.Hashes) > 0 && o.H1 != "" && !slices.Contains(old.Hashes, o.H1) {
			unhashed = append(unhashed, o.Selection.Provider)
		}
	}
	if len(unhashed) > 0 {
		return hashesMissing(in.request, unhashed)
	}
	in.Log.Warningf("", "Provider lock file not updated",
		"Changes to the provider selections were detected, but not saved in the %s file, because of "+
			"%s. To record them, run \"tfdeps init\" without it.",
		depsfile.FileName, in.opts.readonlyBy)
	return in.Log.Add()
}

// lockPlatforms adds to new locks the hashes for the platforms that -platform names, and where
// requests are allowed for those that a policy requires. Their packages are kept nowhere. Nothing
// is recorded before: a lock file that is good for some of the platforms only isn't what was asked
// for.
func (in *installation) lockPlatforms(fetcher *providercache.Fetcher, locks *depsfile.Locks) (*depsfile.Locks, bool) {
	platforms, current := in.opts.otherPlatforms(), getproviders.CurrentPlatform()
	if !in.opts.offline {
		platforms = slices.DeleteFunc(in.Policy.WithPlatforms(platforms), func(plat getproviders.Platform) bool { return plat == current })
	}
	if len(platforms) == 0 && !in.opts.allPlatforms {
		return locks, true
	}
	required := maps.Clone(in.required)
	maps.DeleteFunc(required, func(p getproviders.Provider, _ []getproviders.Requirement) bool {
		return in.skip[p] || p.IsBuiltIn()
	})
	locks, ok := in.LockPlatforms(fetcher, providercache.LockRequest{
		Requirements: required, Locks: locks,
		Platforms: platforms, AllPlatforms: in.opts.allPlatforms,
		Done: []getproviders.Platform{current},
	})
	return locks, in.Log.Add(in.view.Activity.End()...) && ok
}
