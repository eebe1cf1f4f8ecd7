package initcmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// inferred warns of providers that the registry doesn't have and that only the type of a
// resource names, because the type may be misspelt.
func inferred(r request, dir *workdir.Dir, err error) {
	if !products.Of(r.Product).Guesses {
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
		for _, module := range dir.Tree.Modules {
			users = append(users, module.Config.Inferred()...)
			named = named || module.Config.HasEntryFor(failed.Provider)
		}
		at := slices.IndexFunc(users, func(u load.Inferred) bool { return u.Provider == failed.Provider })
		if at < 0 || named {
			continue
		}
		r.Log.Add(problem.At(users[at].Range, problem.Warningf("provider_not_found", "Automatically-inferred provider dependency",
			"The type of %s begins with %q, and no entry of required_providers has that name. It is assumed to mean %s, and there is no such provider.\n\n"+
				"If the type is right, say which provider it is: by an entry %[2]q in required_providers, or by the argument \"provider\" of the block.",
			users[at].Address, failed.Provider.Type, r.Short(failed.Provider))))
	}
}

// announceOverrides warns of providers that replace those of the configuration and
// the lock file. For those that run already, Terraform has this warning since 1.16.
func announceOverrides(r request) {
	overridden, running := "", ""
	for _, p := range slices.SortedFunc(maps.Keys(r.skip), getproviders.Provider.Compare) {
		if dir, ok := r.Config.DevOverrides[p]; ok {
			overridden += fmt.Sprintf("\n - %s in %s", r.Short(p), dir)
		} else {
			running += "\n - " + r.Short(p)
		}
	}
	if overridden != "" {
		r.Log.Warningf("", "Provider development overrides are in effect",
			"The following provider development overrides are set in the CLI configuration:%s\n\n"+
				"These providers are not installed as part of init since they are in these directories, from which %s runs them. "+
				"Their entries in the lock file don't change.", overridden, r.Program)
	}
	if running != "" && dialect.Of(r.Product).Understands("running_providers") {
		r.Log.Warningf("", "Unmanaged providers are in effect",
			"The following providers run already, as the environment variable %s says:%s\n\n"+
				"They are not installed, and their entries in the lock file don't change.", sources.ReattachVariable, running)
	}
}

// chosenOffline warns of versions that were chosen without asking sources that may
// have newer ones.
func chosenOffline(r request, report providercache.Report) {
	var chosen []string
	for _, o := range report.Outcomes {
		p := o.Provider
		if o.Locked { // Describe would read the cache again
			continue
		}
		unasked := result.Each(r.Source.Describe(p).Unasked, func(n *getproviders.NotCachedError) string { return n.Source })
		if len(unasked) > 0 {
			chosen = append(chosen, fmt.Sprintf("%s %s, without asking the %s", r.Short(p), o.Version, strings.Join(unasked, " and the ")))
		}
	}
	if len(chosen) > 0 {
		r.Log.Warningf("", "Versions chosen offline among local packages",
			"The lock file has no entry for these providers, and %s allows no requests. A run with requests may choose other versions:%s",
			r.opts.offlineBy, problem.Items(chosen))
	}
}

// explainSpace adds to an error about a full disk how much cache gc would free.
func explainSpace(r request, err error) {
	for _, part := range getproviders.SplitErrors(err) {
		full := getproviders.FaultOf(part, getproviders.ErrNoSpace)
		if full == nil || r.cache == nil {
			continue
		}
		kept := r.Maintenance(r.cache)
		would, err := kept.Collect(r.Meta.Context, providercache.CollectPolicy{OlderThan: sources.GCAfter}, providercache.RemoveOptions{DryRun: true})
		if err == nil {
			full.Hint = fmt.Sprintf("make room there, or put the packages on another disk; %s would be free without the packages of %s that no directory has used for 30 days",
				terminal.Megabytes(would.Freed), r.cache.Dir)
		}
	}
}

// notShared warns that packages were fetched for this directory alone, because the cache that the user named
// can't be written to. If the cache has all packages, it doesn't warn.
func notShared(r request, report providercache.Report) {
	alone := slices.ContainsFunc(report.Outcomes, func(o providercache.Outcome) bool {
		return o.State == event.Fetched && o.Link == providercache.LinkAuto && !o.Provider.IsBuiltIn()
	})
	if r.cache == nil || sources.IsOwnCache(r.Meta, r.Config) || !alone {
		return
	}
	probe, err := scratch.Make(r.cache.Place().Dir) // needed because packages that a mirror has unpacked are linked without the cache
	if err == nil {
		probe.Remove()
		return
	}
	r.Log.Warningf("cache_failed", "The shared cache can't be written to",
		"Packages that the cache lacks were fetched for this directory alone: %v.\n\n%s "+
			"names the cache. Correct its permissions, or name another directory.", err, sources.CacheNamedBy(r.Meta, r.Config))
}
