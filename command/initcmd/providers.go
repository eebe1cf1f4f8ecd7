package initcmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs/backend"
	"github.com/tfdeps/tfdeps/configs/modules/modulelock"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// require finds out which providers are needed.
func require(r request, dir *workdir.Dir, record *backend.Record) (getproviders.Requirements, problem.List) {
	required, known, problems := dir.Requirements(r.meta, r.opts.stateFile, record)
	if !known && dir.Locks.Empty() && record.Type != "inmem" && r.opts.backend.with == "" {
		problems = append(problems, problem.Warning("Providers that only the state needs may be missing", fmt.Sprintf(
			"The state is in the care of the backend %q, which wasn't asked, and there is no lock file that would tell what it needs. "+
				"If plan says that a provider is missing, run \"tfdeps init -with=%s\", which asks for the state, or hand the state over with -state=FILE, where - is standard input.",
			record.Type, r.product.Program)))
	}
	return required, problems
}

// installation is what the providers of a directory are installed with.
type installation struct {
	request
	settings settings
	net      sources.Network
	source   getproviders.MultiSource
	dir      *workdir.Dir
	required getproviders.Requirements
	toLock   *modulelock.Locks // of modules; nil: nothing
}

// connect makes the sources of providers.
func (in *installation) connect() (problems problem.List) {
	in.view.ProvidersBegin()
	problems = announceOverrides(in.request, in.settings.config.DevOverrides)
	var err error
	in.source, err = sources.Options{
		Net: in.net, Config: in.settings.config, Product: in.product,
		PluginDirs: in.opts.pluginDirs, Fallback: in.settings.fallback, Cached: in.cached,
	}.All(in.meta)
	if err != nil {
		problems = append(problems, problem.Error("Can't search for providers", err.Error()))
	}
	return problems
}

// cached tells which packages on this machine would do, where there is no network.
func (in *installation) cached(p getproviders.Provider) []getproviders.CachedPackage {
	wanted := in.required.Constraints(p)
	return slices.DeleteFunc(in.installer().KnownPackages(p), func(k getproviders.CachedPackage) bool { return !wanted.Allows(k.Version) })
}

// installer makes what installs packages.
func (in *installation) installer() *providercache.Installer {
	return newInstaller(in.request, in.settings, in.net, in.source)
}

func newInstaller(r request, s settings, net sources.Network, source getproviders.Source) *providercache.Installer {
	return &providercache.Installer{
		Fetcher: &fetcher.Fetcher{
			Source: source, Client: net.Archives, Product: r.product, Observe: event.Observer(r.view.Observe), Now: r.meta.Now,
			StateDir: r.meta.StateDir, Verify: r.opts.verify, HashPolicy: r.opts.hashes,
		},
		Target: &store.Store{Dir: workdir.ProvidersDir(r.meta.Env, "")},
		Skip:   s.skip,
		Cache:  s.cache,
		Link:   s.link,
	}
}

// install installs the required providers, and records the result in the lock
// file.
func (in *installation) install() problem.List {
	mode := resolve.Normal
	if in.opts.upgrade {
		mode = resolve.Upgrade
	}
	locks, report, err := in.installer().Install(in.meta.Context, in.required, in.dir.Locks, mode)
	problems := in.view.ProvidersEnd()
	if unsaved := saveModules(in.request, in.dir, in.toLock); unsaved.HasErrors() {
		return append(problems, unsaved...)
	}
	if err != nil {
		return append(problems, view.InstallProblems(in.product, in.required, err, in.suggest)...)
	}
	problems = append(problems, in.chosenOffline(report)...)
	if in.opts.readonly {
		return append(problems, compareLocks(in.request, in.dir.Locks, locks, report)...)
	}
	locks, unlocked := in.lockPlatforms(locks)
	if problems = append(problems, unlocked...); unlocked.HasErrors() {
		return problems
	}
	return append(problems, saveLocks(in.request, in.dir.Locks, locks, report)...)
}

// suggest finds the address that was meant by one that doesn't exist: that of
// another required provider of the same type, else what the registry knows.
func (in *installation) suggest(p getproviders.Provider) (view.Suggestion, bool) {
	meant, ok := getproviders.Provider{}, false
	for _, other := range in.required.Providers() {
		if other.Type == p.Type && other != p && !ok {
			meant, ok = other, true
		}
	}
	if !ok {
		meant, ok = in.source.Suggest(in.meta.Context, p)
	}
	if !ok {
		return view.Suggestion{}, false
	}
	available, err := in.source.Versions(in.meta.Context, meant)
	if err != nil {
		return view.Suggestion{Provider: meant}, true // its own failure, if it matters, is reported elsewhere
	}
	return view.Suggestion{Provider: meant, Versions: available.Versions}, true
}

// chosenOffline warns of versions that were chosen without asking sources that may
// have others.
func (in *installation) chosenOffline(report providercache.Report) problem.List {
	var chosen []string
	for _, o := range report.Outcomes {
		p := o.Selection.Provider
		var unasked []string
		for _, source := range in.source.Unasked(p) {
			unasked = append(unasked, source.Source)
		}
		if !o.Selection.Locked && len(unasked) > 0 {
			chosen = append(chosen, fmt.Sprintf("%s %s, without asking the %s", in.product.Short(p), o.Selection.Version, strings.Join(unasked, " and the ")))
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	return problem.List{problem.Warning("Versions chosen offline among what is there", fmt.Sprintf(
		"The lock file has no entry for these providers, and %s allows no request, so that another version may be chosen where requests are allowed:%s",
		in.opts.offlineBy, problem.Items(chosen)))}
}

// lockPlatforms adds to new locks the hashes for the platforms that -platform
// names. Their packages are kept nowhere. Nothing is recorded before: a lock file
// that is good for some of the platforms only isn't what was asked for.
func (in *installation) lockPlatforms(locks *depsfile.Locks) (*depsfile.Locks, problem.List) {
	if !in.opts.wantsPlatforms() {
		return locks, nil
	}
	required := maps.Clone(in.required)
	maps.DeleteFunc(required, func(p getproviders.Provider, _ []getproviders.Requirement) bool {
		return in.settings.skip[p] || p.IsBuiltIn()
	})
	shown := in.view.Platforms()
	fetcher := in.installer().Fetcher
	fetcher.Observe = event.Observer(shown.Observe)
	result := lockhashes.Lock(in.meta.Context, fetcher, lockhashes.Request{
		Requirements: required, Locks: locks,
		Platforms: in.opts.otherPlatforms(), AllPlatforms: in.opts.allPlatforms,
		Done: []getproviders.Platform{getproviders.CurrentPlatform()},
	})[0]
	problems := shown.End()
	if result.Err != nil {
		return nil, append(problems, view.LockProblems(in.product, view.LockedDir{Result: result})...)
	}
	return result.Locks, problems
}
