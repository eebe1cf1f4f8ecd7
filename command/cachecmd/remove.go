package cachecmd

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/fetch"
	"github.com/tfdeps/tfdeps/providercache"
)

// removeOptions are what the commands have in common that remove something.
type removeOptions struct {
	options
	dryRun bool
	force  bool // packages to which directories have symbolic links, too
}

// gcOptions are what the arguments of cache gc ask for.
type gcOptions struct {
	removeOptions
	olderThan  time.Duration // 0: not given
	maxBytes   *int64        // nil: not given
	keepLocked []string      // nil: not given
}

// unusedAfter is how long a package may be unused where nothing else is said.
const unusedAfter = 30 * 24 * time.Hour

func (o *gcOptions) setMaxSize(given string) error {
	n, err := cli.ParseBytes(given)
	o.maxBytes = &n
	return err
}

// Report removes what isn't used any more.
func (o *gcOptions) Report() (*result.Result, error) {
	paths, err := o.followed(o.keepLocked, "-keep-locked")
	if err != nil {
		return nil, err
	}
	if o.olderThan == 0 && o.maxBytes == nil && paths == nil {
		o.olderThan = unusedAfter
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
		o.failed("Failed to remove what isn't used", err)
	} else {
		swept = o.sweepModules(cmp.Or(o.olderThan, unusedAfter))
	}
	return result.CacheRemoval(o.cache, done, o.dryRun, swept.Entries, swept.Bytes), nil
}

// sweepModules removes from the store of modules what was fetched so long ago, if it isn't a cache elsewhere that is looked after.
func (o *removeOptions) sweepModules(age time.Duration) (swept fetch.Swept) {
	if store := sources.ModuleStore(o.Meta); store != "" && o.dir == "" {
		swept = fetch.SweepStore(store, o.Meta.Now().Add(-age), o.dryRun)
	}
	return swept
}

// cleanOptions are what the arguments of cache clean ask for.
type cleanOptions struct{ removeOptions }

// Report removes all packages, or those that are named.
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
	isNamed := len(names) > 0 // what is named needs no receipt
	if isNamed {
		packages = slices.DeleteFunc(packages, func(p providercache.StoredPackage) bool { return !isAmong(wanted, p) })
	}
	if isNamed && len(packages) == 0 {
		o.Log.Fail("package_not_found", "No such package in the cache",
			"The cache in %s has no package of %s. To see what it has, run:\n  tfdeps cache list", o.cache.Dir, strings.Join(names, ", "))
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
