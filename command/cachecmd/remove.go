package cachecmd

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
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
	n, err := parseBytes(given)
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

// ages are units of time beside those that Go knows.
var ages = map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

// parseAge reads "30d", "2w", "36h" or "90m".
func parseAge(given string) (time.Duration, error) {
	for suffix, unit := range ages {
		number, ok := strings.CutSuffix(given, suffix)
		if n, err := strconv.ParseUint(number, 10, 32); ok && err == nil && n > 0 && n <= uint64(math.MaxInt64/unit) {
			return time.Duration(n) * unit, nil
		}
	}
	if age, err := time.ParseDuration(given); err == nil && age > 0 {
		return age, nil
	}
	return 0, fmt.Errorf("%q is no length of time: it has to be like 30d, 2w or 12h", given)
}

// sizes are units of bytes. Without an "i" they are powers of ten, as disks are
// sold.
var sizes = []struct {
	suffix string
	unit   float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12}, {"b", 1},
}

// parseBytes reads "20GB", "1.5GiB", "500M" or "100B". A number alone is refused, because
// who writes it may think of another unit; 0 needs none.
func parseBytes(given string) (int64, error) {
	if given == "0" {
		return 0, nil
	}
	if _, err := strconv.ParseFloat(given, 64); err == nil {
		return 0, fmt.Errorf("%q has no unit: it has to be like %[1]sGB, %[1]sMB or %[1]sB", given)
	}
	for _, size := range sizes {
		number, ok := strings.CutSuffix(strings.ToLower(given), size.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if bytes := n * size.unit; err == nil && n >= 0 && bytes < math.MaxInt64 {
			return int64(bytes), nil
		}
		break
	}
	return 0, fmt.Errorf("%q is no size: it has to be like 20GB, 500MB or 1.5GiB", given)
}
