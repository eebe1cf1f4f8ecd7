package initcmd

import (
	"maps"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/providercache"
)

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
	if before.Empty() {
		r.view.LockCreated()
	} else {
		r.view.LockChanged()
	}
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
			"%s. To record them, run \"%s init\" without it.",
		depsfile.FileName, r.opts.readonlyBy, r.product.Program)
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
	ok := in.log.Add(in.view.PlatformsEnd()...)
	if err != nil {
		return nil, in.log.Add(explain.LockProblems(in.product, explain.LockedDir{Result: results[0]})...)
	}
	return results[0].Locks, ok
}
