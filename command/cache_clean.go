package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// runCacheClean removes all packages, or those that are named.
func runCacheClean(m *Meta, args []string) (int, view.Problems, error) {
	var place cachePlace
	var o removal
	flags := newFlags("cache clean")
	place.define(flags)
	o.define(flags)
	names, err := parseOperands(flags, args)
	var wanted []providercache.Wanted
	if err == nil {
		wanted, err = parseWanted(names, m.unversioned())
	}
	if err != nil {
		return 0, nil, err
	}
	cache, _, problems := place.find(m)
	if problems.HasErrors() {
		return 0, problems, nil
	}
	upkeep := m.upkeep(cache)
	packages, err := upkeep.List()
	if err != nil {
		return 0, append(problems, cacheProblem("Failed to list the cache", err)...), nil
	}
	if o.Others = len(names) > 0; o.Others { // what is asked for by name doesn't have to be ours
		packages = slices.DeleteFunc(packages, func(p providercache.Cached) bool { return !isAmong(wanted, p) })
	}
	done, err := upkeep.Remove(m.Context, packages, o.RemoveOptions)
	result := view.CacheRemoval{Cache: cache, Done: done, DryRun: o.DryRun}
	if err != nil {
		problems = append(problems, cacheProblem("Failed to remove packages", err)...)
	} else if len(names) == 0 {
		if !o.DryRun {
			upkeep.Sweep()
		}
		if place.dir == "" {
			m.sweepModules(&result, m.Now())
		}
	}
	return 0, append(problems, m.report(result, o.json)...), nil
}

func isAmong(wanted []providercache.Wanted, p providercache.Cached) bool {
	return slices.ContainsFunc(wanted, func(w providercache.Wanted) bool {
		return w.Provider == p.Provider && (w.Version == getproviders.Version{} || w.Version == p.Version)
	})
}

// parseWanted reads providers, with or without an exact version behind a "@".
func parseWanted(names []string, product getproviders.Product) (wanted []providercache.Wanted, err error) {
	for _, name := range names {
		address, version, versioned := strings.Cut(name, "@")
		var w providercache.Wanted
		w.Provider, err = product.ParseProvider(address)
		if err == nil && versioned {
			w.Version, err = getproviders.ParseVersion(version)
		}
		if err == nil && (w.Provider.IsBuiltIn() || w.Provider.IsLegacy()) {
			err = fmt.Errorf("%s has no packages", w.Provider)
		}
		if err != nil {
			return nil, &usageError{text: fmt.Sprintf("Error: %q is no provider, or version of one: %v", name, err)}
		}
		wanted = append(wanted, w)
	}
	return wanted, nil
}
