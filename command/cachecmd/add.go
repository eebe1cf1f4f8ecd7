package cachecmd

import (
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// sourceDateVariable says which time files get that must not tell when they were
// made, in seconds since 1970.
const sourceDateVariable = "SOURCE_DATE_EPOCH"

// systemCacheDir is where an image has the cache.
const systemCacheDir = "/usr/share/tfdeps"

// addOptions are what the arguments of cache add ask for.
type addOptions struct {
	options
	paths     []string // of -locked, and what follows it; nil: it wasn't given
	platforms []getproviders.Platform
	system    bool
	policies  []string // of -policy
	mirrors   []string // of -mirror
	offlineBy string   // who set it; "": it isn't set
	wanted    []getproviders.PackageSpec
	made      time.Time // what the files of an image say of their age
}

func parseAdd(args []string, env cli.Environment, product getproviders.Product) (o addOptions, err error) {
	operands, err := o.flags().Mixed(args, env)
	switch {
	case err != nil:
		return o, err
	case o.paths != nil:
		o.paths = append(o.paths, operands...)
	case len(operands) == 0:
		return o, cli.Misusedf("cache add needs providers, or -locked with directories that have lock files")
	default:
		if o.wanted, err = parseWanted(operands, product); err != nil {
			return o, err
		}
	}
	if o.system && o.dir == "" {
		o.dir = systemCacheDir
	}
	if len(o.platforms) == 0 {
		o.platforms = []getproviders.Platform{getproviders.CurrentPlatform()}
	}
	o.made = time.Unix(315532800, 0) // 1980, where the time of archives begins
	if given := env.Get(sourceDateVariable); given != "" {
		seconds, err := strconv.ParseInt(given, 10, 64)
		if err != nil {
			return o, cli.Usagef("the value of %s is %q, and has to be a number of seconds", sourceDateVariable, given)
		}
		o.made = time.Unix(seconds, 0)
	}
	return o, nil
}

// runAdd puts packages into the cache.
func runAdd(m *cli.Meta, args []string) (int, error) {
	o, err := parseAdd(args, m.Env, products.Unversioned(m))
	if err != nil {
		return 0, err
	}
	activity, m := o.activity(m, products.Unversioned(m))
	return o.end(m, add(m, &o, activity))
}

// add fills the cache; the report is nil if nothing was tried.
func add(m *cli.Meta, o *addOptions, activity *view.Activity) result.Result {
	s, ok := o.open(m, activity, o.offlineBy, o.policies)
	if !ok {
		return nil
	}
	if o.paths != nil {
		o.wanted, _ = o.locked(m, o.paths)
	}
	if o.log.All.HasErrors() {
		return nil
	}
	result := result.CacheFilling{Cache: s.cache, Span: activity.Span}
	a := adding{session: s, opts: o}
	from := sources.Options{Net: s.net, Config: s.config, Product: s.product, Cached: a.cached}
	mirrors, problems := from.OpenMirrors(m, o.mirrors)
	defer mirrors.Close()
	if !o.log.Add(problems...) {
		return nil
	}
	from.Mirrors = mirrors
	source, err := from.All(m)
	if err != nil {
		o.log.Fail("cli_configuration", "Can't search for providers", "%v", err)
		return nil
	}
	filled := a.fill(source)
	for _, f := range filled {
		result.Packages = append(result.Packages, f.Outcome)
	}
	o.log.Add(activity.End()...)
	if o.system {
		result.Receipts = new(a.finalize(filled))
	}
	return result
}

// adding is what packages are put into a cache with.
type adding struct {
	session
	opts     *addOptions
	platform getproviders.Platform // whose packages are being added
}

// installer makes what fetches packages for the current platform.
func (a *adding) installer(source getproviders.Source) *providercache.Installer {
	f := a.net.Fetcher(a.meta, a.product, source, a.activity.Observe)
	if f.Platform = a.platform; a.opts.system {
		f.StateDir = "" // what is known of an image stands beside it
	}
	installer := &providercache.Installer{Fetcher: f, Cache: a.cache}
	f.Choice = a.net.Policy.Versions()
	f.Policy = a.net.Policy.Against(nil, func(p getproviders.Provider) getproviders.Version {
		return sources.Newest(installer.KnownPackages(p), func(getproviders.Version) bool { return !a.isPinned(p) })
	})
	return installer
}

// isPinned reports whether the version of a provider was given: then it is no downgrade to what is older.
func (a *adding) isPinned(p getproviders.Provider) bool {
	return slices.ContainsFunc(a.opts.wanted, func(w getproviders.PackageSpec) bool {
		return w.Provider == p && w.Version != getproviders.Version{}
	})
}

// cached tells which packages are on this machine, where no source may be asked.
func (a *adding) cached(p getproviders.Provider) []getproviders.CachedPackage {
	return a.installer(nil).KnownPackages(p)
}

// fill fetches what isn't there, for one platform after the other.
func (a *adding) fill(source getproviders.Source) (filled []providercache.Prefetched) {
	for _, a.platform = range a.opts.platforms {
		a.activity.Platform(a.platform)
		more, err := a.installer(source).Prefetch(a.meta.Context, a.opts.wanted)
		filled = append(filled, more...)
		if err != nil {
			a.opts.log.Add(explain.InstallProblems(a.product, getproviders.Requirements{}, err, nil)...)
		}
	}
	return filled
}

// finalize makes of the cache what an image is to have, with receipts if they can
// count.
func (a *adding) finalize(filled []providercache.Prefetched) (receipts bool) {
	receipts, err := a.installer(nil).Finalize(a.meta.Context, filled, filepath.Clean(a.opts.dir), a.opts.made)
	if err != nil {
		return a.opts.log.Fail("cache_failed", "Failed to make the cache fit for an image", "%v", err)
	}
	if !receipts {
		a.opts.log.Warningf("", "No receipts",
			"Others than root can write to %s or to a directory above it. So nothing could be trusted that is noted "+
				"about the packages, and nothing was: the first run that uses them reads and hashes them.", a.cache.Dir)
	}
	return receipts
}
