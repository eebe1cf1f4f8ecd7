package cachecmd

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/fetch"
	"github.com/tfdeps/tfdeps/providercache"
)

// removeOptions are the options of all commands that remove packages.
type removeOptions struct {
	options
	dryRun bool
	force  bool // remove packages to which directories have symlinks, too
}

// gcOptions are the parsed arguments of cache gc.
type gcOptions struct {
	removeOptions
	olderThan  time.Duration // 0 if it isn't given
	maxBytes   *int64        // nil if it isn't given
	keepLocked []string      // nil if it isn't given
}

// Report removes unused packages by age, size and lock files, and old entries of the store of modules.
func (o *gcOptions) Report() (*result.Result, error) {
	paths, err := o.followed(o.keepLocked, "-keep-locked")
	if err != nil {
		return nil, err
	}
	if o.olderThan == 0 && o.maxBytes == nil && paths == nil {
		o.olderThan = sources.GCAfter
	}
	o.findCache()
	locked, ok := o.locked(paths)
	if !ok {
		return nil, nil
	}
	policy := providercache.CollectPolicy{OlderThan: o.olderThan, MaxBytes: o.maxBytes, Keep: locked}
	done, err := o.Maintenance(o.cache).Collect(o.Meta.Context, policy, providercache.RemoveOptions{DryRun: o.dryRun, Linked: o.force})
	var swept fetch.Swept
	if err != nil {
		o.failed("Failed to remove unused packages", err)
	} else {
		swept = o.sweepModules(cmp.Or(o.olderThan, sources.GCAfter))
	}
	return result.CacheRemoval(o.cache, done, o.dryRun, swept.Entries, swept.Bytes), nil
}

// sweepModules removes older entries from the store of modules, but not with -dir, which names another cache.
func (o *removeOptions) sweepModules(age time.Duration) (swept fetch.Swept) {
	if store := sources.ModuleStore(o.Meta); store != "" && o.dir == "" {
		swept = fetch.SweepStore(store, o.Meta.Now().Add(-age), o.dryRun)
	}
	return swept
}

// cleanOptions are the parsed arguments of cache clean.
type cleanOptions struct{ removeOptions }

// Report removes all packages, or those that the operands name.
func (o *cleanOptions) Report() (*result.Result, error) {
	names := o.Operands
	wanted, err := parseWanted(names, o.Product)
	if err != nil {
		return nil, err
	}
	packages, ok := o.list()
	if !ok {
		return nil, nil
	}
	isNamed := len(names) > 0 // a named package needs no receipt
	if isNamed {
		packages = slices.DeleteFunc(packages, func(p providercache.StoredPackage) bool { return !isAmong(wanted, p) })
	}
	if isNamed && len(packages) == 0 {
		o.Log.Fail("package_not_found", "No such package in the cache",
			"The cache in %s has no package of %s. To see what it has, run:\n  %s cache list", o.cache.Dir, strings.Join(names, ", "), o.Called)
		return nil, nil
	}
	maintenance := o.Maintenance(o.cache)
	done, err := maintenance.Remove(o.Meta.Context, packages, providercache.RemoveOptions{DryRun: o.dryRun, Linked: o.force, Others: isNamed})
	var swept fetch.Swept
	if err != nil {
		o.failed("Failed to remove packages", err)
	} else if !isNamed {
		if !o.dryRun {
			maintenance.Sweep()
		}
		swept = o.sweepModules(0)
	}
	return result.CacheRemoval(o.cache, done, o.dryRun, swept.Entries, swept.Bytes), nil
}

func isAmong(wanted []getproviders.PackageSpec, p providercache.StoredPackage) bool {
	return slices.ContainsFunc(wanted, func(w getproviders.PackageSpec) bool {
		return w.Provider == p.Provider && (w.Version.IsZero() || w.Version == p.Version)
	})
}
