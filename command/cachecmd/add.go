package cachecmd

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// sourceDateVariable says which time files get that must not tell when they were
// made, in seconds since 1970.
const sourceDateVariable = "SOURCE_DATE_EPOCH"

// systemCacheDir is where an image has the cache.
const systemCacheDir = "/usr/share/tfdeps"

// addOptions are what the arguments of cache add ask for.
type addOptions struct {
	options
	locked    []string // of -locked, and what follows it; nil: it wasn't given
	platforms []getproviders.Platform
	system    bool
	offline   bool
	policies  []string // of -policy
	mirrors   []string // of -mirror
	offlineBy string   // who set it; "": it isn't set
	wanted    []resolve.PackageSpec
	made      time.Time // what the files of an image say of their age
}

func (o *addOptions) addPlatform(given string) error {
	platform, err := getproviders.ParsePlatform(given)
	o.platforms = append(o.platforms, platform)
	return err
}

func parseAdd(args []string, env cli.Environment, product getproviders.Product) (o addOptions, err error) {
	operands, by, err := o.flags().Mixed(args, env)
	if o.offline {
		o.offlineBy = by["offline"]
	}
	switch {
	case err != nil:
		return o, err
	case o.locked != nil:
		o.locked = append(o.locked, operands...)
	case len(operands) == 0:
		return o, &cli.UsageError{Text: "Error: cache add needs providers, or -locked with directories that have lock files", Help: true}
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
			return o, &cli.UsageError{Text: fmt.Sprintf("Error: the value of %s is %q, and has to be a number of seconds", sourceDateVariable, given)}
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
	report, problems := add(m, o, activity)
	return o.end(m, report, problems, 0)
}

// add fills the cache; the report is nil if nothing was tried.
func add(m *cli.Meta, o addOptions, activity *view.Activity) (view.Result, problem.List) {
	product, problems := products.Choose(m, products.Options{})
	if problems.HasErrors() {
		return nil, problems
	}
	config, problems := sources.ReadConfig(m, products.Unversioned(m))
	if problems.HasErrors() {
		return nil, problems
	}
	cache, missing := sources.FindCache(m, config, o.dir)
	problems = append(problems, missing...)
	if o.locked != nil {
		locked, unreadable := workdir.LockedBelow(o.locked, products.Unversioned(m))
		o.wanted, problems = store.PackageSpecs(locked), append(problems, unreadable...)
	}
	problems = append(problems, sources.CheckArchiveCredentials(m.Env)...)
	if problems.HasErrors() {
		return nil, problems
	}
	net, unreached := sources.Connect(m, product, config, o.offlineBy)
	if problems = append(problems, unreached...); problems.HasErrors() {
		return nil, problems
	}
	rules, unruled := sources.ReadPolicy(m, product, o.policies)
	if problems = append(problems, unruled...); problems.HasErrors() {
		return nil, problems
	}
	result := view.CacheFilling{Cache: cache}
	a := adding{meta: m, opts: o, product: product, cache: cache, net: net, policy: rules, activity: activity, result: &result}
	from := sources.Options{Net: net, Config: config, Product: product, Cached: a.cached}
	mirrors, invalid := from.OpenMirrors(m, o.mirrors)
	defer mirrors.Close()
	if problems = append(problems, invalid...); problems.HasErrors() {
		return nil, problems
	}
	from.Mirrors = mirrors
	source, err := from.All(m)
	if err != nil {
		return nil, append(problems, problem.Errorf("cli_configuration", "Can't search for providers", "%v", err))
	}
	var failed problem.List
	result.Filled, failed = a.fill(source)
	activity.Close()
	problems = append(problems, failed...)
	if o.system {
		receipts, unfit := a.finalize(result.Filled)
		result.Receipts, problems = &receipts, append(problems, unfit...)
	}
	return result, problems
}

// adding is what packages are put into a cache with.
type adding struct {
	meta     *cli.Meta
	opts     addOptions
	product  getproviders.Product
	cache    *store.Store
	net      sources.Network
	policy   sources.Policy
	activity *view.Activity
	result   *view.CacheFilling
	platform getproviders.Platform // whose packages are being added
}

// installer makes what fetches packages for the current platform.
func (a *adding) installer(source getproviders.Source) *providercache.Installer {
	state := a.meta.StateDir
	if a.opts.system {
		state = "" // what is known of an image stands beside it
	}
	installer := &providercache.Installer{
		Fetcher: &fetcher.Fetcher{
			Source: source, Client: a.net.Archives, Product: a.product, Platform: a.platform, Now: a.meta.Now, StateDir: state,
			Observe: event.Observer(func(e event.Event) {
				a.activity.Observe(e)
				a.result.Observe(e, a.platform, a.meta.Now())
			}),
		},
		Cache: a.cache,
	}
	installer.Fetcher.Policy = a.policy.Against(nil, func(p getproviders.Provider) getproviders.Version {
		return sources.Newest(installer.KnownPackages(p), func(getproviders.Version) bool { return !a.isPinned(p) })
	})
	return installer
}

// isPinned reports whether the version of a provider was given: then it is no downgrade to what is older.
func (a *adding) isPinned(p getproviders.Provider) bool {
	return slices.ContainsFunc(a.opts.wanted, func(w resolve.PackageSpec) bool {
		return w.Provider == p && w.Version != getproviders.Version{}
	})
}

// cached tells which packages are on this machine, where no source may be asked.
func (a *adding) cached(p getproviders.Provider) []getproviders.CachedPackage {
	return a.installer(nil).KnownPackages(p)
}

// fill fetches what isn't there, for one platform after the other.
func (a *adding) fill(source getproviders.Source) (filled []providercache.Prefetched, problems problem.List) {
	for _, a.platform = range a.opts.platforms {
		more, err := a.installer(source).Prefetch(a.meta.Context, a.opts.wanted)
		filled = append(filled, more...)
		if err != nil {
			problems = append(problems, view.InstallProblems(a.product, getproviders.Requirements{}, err, nil)...)
		}
	}
	return filled, problems
}

// finalize makes of the cache what an image is to have, with receipts if they can
// count.
func (a *adding) finalize(filled []providercache.Prefetched) (receipts bool, problems problem.List) {
	receipts, err := providercache.Finalize(a.meta.Context, a.cache, filled, filepath.Clean(a.opts.dir), a.opts.made)
	if err != nil {
		return false, problem.Fail("cache_failed", "Failed to make the cache fit for an image", "%v", err)
	}
	if !receipts {
		problems = append(problems, problem.Warning("No receipts", fmt.Sprintf(
			"Others than root can write to %s or to a directory above it. So nothing could be trusted that is noted "+
				"about the packages, and nothing was: the first run that uses them reads and hashes them.", a.cache.Dir)))
	}
	return receipts, problems
}
