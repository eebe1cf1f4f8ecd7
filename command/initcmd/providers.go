package initcmd

import (
	"maps"
	"slices"

	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/wrapped"
	"github.com/tfdeps/tfdeps/providercache"
)

// connectSources opens the sources of providers.
func connectSources(r request, required getproviders.Requirements) bool {
	if !r.opts.looks() {
		r.view.ProvidersBegin()
	}
	announceOverrides(r)
	for _, p := range required.Providers() {
		if by := r.overriddenBy(p); by != "" {
			r.view.Overridden(p, by)
		}
	}
	all, ok := r.OpenSources(r.opts.mirrors, origins(r, required))
	r.Source = all
	return ok
}

// origins says where providers come from. Without network these are the known packages on this machine that the constraints allow.
func origins(r request, required getproviders.Requirements) cliconfig.SourceOptions {
	cached := func(p getproviders.Provider) []getproviders.CachedPackage {
		wanted := required.Constraints(p)
		return slices.DeleteFunc(newInstaller(r, nil, required).KnownPackages(p), func(k getproviders.CachedPackage) bool { return !wanted.Allows(k.Version) })
	}
	return cliconfig.SourceOptions{Dirs: r.opts.pluginDirs, Fallback: r.fallback, Cached: cached, MirrorsFirst: r.opts.mirrorFallback != ""}
}

// selectionMode says how versions are chosen.
func selectionMode(r request) providercache.Mode {
	if r.opts.upgrade {
		return providercache.Upgrade
	}
	return providercache.Normal
}

// newInstaller returns the installer of packages.
func newInstaller(r request, locks *depsfile.Locks, required getproviders.Requirements) *providercache.Installer {
	fetcher := r.Fetcher(r.view.Observe)
	fetcher.Verify, fetcher.StrictTimes, fetcher.HashPolicy = r.opts.verify, r.opts.strictTimes, r.opts.hashes
	if r.cache == nil && !r.opts.looks() {
		fetcher.ArchiveDir = r.ArchiveDir()
	}
	in := &providercache.Installer{
		Fetcher: fetcher, Target: &providercache.Store{Dir: workdir.ProvidersDir(r.Meta.Env, "")}, Skip: r.skip, Cache: r.cache, Link: r.link,
	}
	fetcher.Policy = r.Policy.Against(locks, func(p getproviders.Provider) getproviders.Version {
		return sources.Newest(in.KnownPackages(p), required.Constraints(p).Allows)
	})
	return in
}

// installProviders installs the required providers, and writes modules.json and the lock files.
func installProviders(r request, dir *workdir.Dir, required getproviders.Requirements) bool {
	in := newInstaller(r, dir.Locks, required)
	locks, report, err := in.Install(r.Meta.Context, required, dir.Locks, selectionMode(r))
	r.Log.Add(r.view.ProvidersEnd()...)
	if err != nil {
		inferred(r, dir, err)
		return explainFailure(r, dir, required, err)
	}
	if !dialect.Of(r.Product).Understands("lock_apart") {
		r.view.PhaseEnd()
	}
	chosenOffline(r, report)
	notShared(r, report)
	return r.Log.Add(dir.SaveModules()...) && lockProviders(r, dir, required, in.Fetcher, locks, report)
}

// explainFailure logs why providers can't be installed.
func explainFailure(r request, dir *workdir.Dir, required getproviders.Requirements, err error) bool {
	wanted := sources.Wanted{Required: required, Locks: []*depsfile.Locks{dir.Locks}, Cache: r.cache}
	if r.opts.mirrorFallback == "" {
		wanted.MirrorsHint = sources.OnlyMirrors + "; with -mirror-fallback=stop the others are asked after them"
	}
	explained := r.ExplainMissing(err, wanted)

	explainSpace(r, err)
	recallVersions(r, required, err)

	return r.Log.Add(r.InstallProblems(required, err, explained.Suggest)...)
}

// recallVersions adds to errors about missing packages the versions that a registry listed for an earlier run.
func recallVersions(r request, required getproviders.Requirements, err error) {
	missing := wrapped.As[*getproviders.NotCachedError](err)
	if len(missing) == 0 || len(r.opts.mirrors) > 0 {
		return
	}
	source, err := r.Config.Source(r.Meta.Context, sources.Recalled(r.Meta, r.Config, r.opts.offlineBy).Single(r.Product, origins(r, required)))
	for _, m := range missing {
		if err == nil && m.Version.IsZero() {
			available, _ := source.Versions(r.Meta.Context, m.Provider)
			m.Listed = available.Versions
		}
	}
}

// lockProviders writes the lock file. With -lockfile=readonly it only warns that it
// would change.
func lockProviders(r request, dir *workdir.Dir, required getproviders.Requirements, fetcher *providercache.Fetcher, locks *depsfile.Locks, report providercache.Report) (ok bool) {
	if r.opts.readonlyBy+r.opts.offlineBy != "" && !r.CheckLocks(locks, required.Providers()) {
		return false
	}
	if r.opts.readonlyBy != "" {
		return compareLocks(r, dir.Locks, locks, report)
	}
	locks, ok = lockPlatforms(r, required, fetcher, locks)
	return ok && saveLocks(r, dir, locks, report)
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
		return r.Log.Add(r.IncompleteLock(report.Incomplete))
	}
	return true
}

// compareLocks warns that the lock file would change. A missing h1 hash is an error,
// because plan accepts a package only if the lock file has the
// hash of the package's files, or no hash at all.
func compareLocks(r request, before, locks *depsfile.Locks, report providercache.Report) bool {
	if locks.Equal(before) {
		return r.Log.Add()
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
	r.Log.Warningf("", "Provider lock file not updated",
		"Changes to the provider selections were detected, but not saved in the %s file, because of "+
			"%s. To record them, run \"%s init\" without it.",
		depsfile.FileName, r.opts.readonlyBy, r.Called)
	return r.Log.Add()
}

// lockPlatforms adds to locks the hashes for the platforms of -platform and, if
// requests are allowed, for those that a policy requires. Their packages are not kept. The lock file is written
// after it, because a lock file with hashes for only some platforms doesn't satisfy -platform.
func lockPlatforms(r request, required getproviders.Requirements, fetcher *providercache.Fetcher, locks *depsfile.Locks) (*depsfile.Locks, bool) {
	platforms, current := r.opts.otherPlatforms(), getproviders.CurrentPlatform()
	if r.opts.offlineBy == "" {
		platforms = slices.DeleteFunc(r.Policy.WithPlatforms(platforms), func(plat getproviders.Platform) bool { return plat == current })
	}
	if len(platforms) == 0 && !r.opts.allPlatforms {
		return locks, true
	}
	required = maps.Clone(required)
	maps.DeleteFunc(required, func(p getproviders.Provider, _ []getproviders.Requirement) bool {
		return r.skip[p] || p.IsBuiltIn()
	})
	locks, ok := r.LockPlatforms(fetcher, providercache.LockRequest{
		Requirements: required, Locks: locks,
		Platforms: platforms, AllPlatforms: r.opts.allPlatforms,
		Done: []getproviders.Platform{current},
	})
	return locks, r.Log.Add(r.view.Activity.End()...) && ok
}
