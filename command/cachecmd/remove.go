package cachecmd

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/products"
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

func parseGC(args []string, env cli.Environment) (o gcOptions, err error) {
	operands, err := o.flags().Mixed(args, env)
	if err != nil {
		return o, err
	}
	if o.keepLocked, err = followed(o.keepLocked, operands, "-keep-locked"); err != nil {
		return o, err
	}
	if o.olderThan == 0 && o.maxBytes == nil && o.keepLocked == nil {
		o.olderThan = unusedAfter
	}
	return o, nil
}

func (o *gcOptions) setMaxSize(given string) error {
	n, err := cli.ParseBytes(given)
	o.maxBytes = &n
	return err
}

// runGC removes what isn't used any more.
func runGC(m *cli.Meta, args []string) (int, error) {
	o, err := parseGC(args, m.Env)
	if err != nil {
		return 0, err
	}
	cache, _ := o.findCache(m)
	locked, ok := o.locked(m, o.keepLocked)
	if !ok {
		return o.end(m, nil)
	}
	policy := providercache.CollectPolicy{OlderThan: o.olderThan, MaxBytes: o.maxBytes, Keep: locked}
	done, err := maintain(m, cache).Collect(m.Context, policy, providercache.RemoveOptions{DryRun: o.dryRun, Linked: o.force})
	result := result.CacheRemoval{Cache: cache, Done: done, DryRun: o.dryRun}
	if err != nil {
		o.log.Fail("cache_failed", "Failed to remove what isn't used", "%v", err)
	} else if o.dir == "" {
		sweepModules(m, &result, m.Now().Add(-cmp.Or(o.olderThan, unusedAfter)))
	}
	return o.end(m, result)
}

// sweepModules removes from the store of modules what was fetched before a time.
func sweepModules(m *cli.Meta, result *result.CacheRemoval, before time.Time) {
	if store := sources.ModuleStore(m); store != "" {
		swept := fetch.SweepStore(store, before, result.DryRun)
		result.Entries, result.Bytes = swept.Entries, swept.Bytes
	}
}

// runClean removes all packages, or those that are named.
func runClean(m *cli.Meta, args []string) (int, error) {
	var o removeOptions
	names, err := o.flags().Mixed(args, m.Env)
	if err != nil {
		return 0, err
	}
	wanted, err := parseWanted(names, products.Unversioned(m))
	if err != nil {
		return 0, err
	}
	cache, packages, ok := o.list(m)
	if !ok {
		return o.end(m, nil)
	}
	isNamed := len(names) > 0 // what is named needs no receipt
	if isNamed {
		packages = slices.DeleteFunc(packages, func(p providercache.StoredPackage) bool { return !isAmong(wanted, p) })
	}
	if isNamed && len(packages) == 0 {
		o.log.Fail("package_not_found", "No such package in the cache",
			"The cache in %s has no package of %s. To see what it has, run:\n  tfdeps cache list", cache.Dir, strings.Join(names, ", "))
		return o.end(m, nil)
	}
	maintenance := maintain(m, cache)
	done, err := maintenance.Remove(m.Context, packages, providercache.RemoveOptions{DryRun: o.dryRun, Linked: o.force, Others: isNamed})
	result := result.CacheRemoval{Cache: cache, Done: done, DryRun: o.dryRun}
	if err != nil {
		o.log.Fail("cache_failed", "Failed to remove packages", "%v", err)
	} else if !isNamed {
		if !o.dryRun {
			maintenance.Sweep()
		}
		if o.dir == "" {
			sweepModules(m, &result, m.Now())
		}
	}
	return o.end(m, result)
}

func isAmong(wanted []getproviders.PackageSpec, p providercache.StoredPackage) bool {
	return slices.ContainsFunc(wanted, func(w getproviders.PackageSpec) bool {
		return w.Provider == p.Provider && (w.Version == getproviders.Version{} || w.Version == p.Version)
	})
}
