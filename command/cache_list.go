package command

import (
	"github.com/tfdeps/tfdeps/command/view"
)

// runCacheList lists the packages.
func runCacheList(m *Meta, args []string) (int, view.Problems, error) {
	var place cachePlace
	flags := newFlags("cache list")
	place.define(flags)
	asJSON := flags.Bool("json", false, "")
	if err := parseOptions(flags, args); err != nil {
		return 0, nil, err
	}
	cache, _, problems := place.find(m)
	if problems.HasErrors() {
		return 0, problems, nil
	}
	packages, err := m.upkeep(cache).List()
	if err != nil {
		return 0, append(problems, cacheProblem("Failed to list the cache", err)...), nil
	}
	return 0, append(problems, m.report(view.CacheList{Cache: cache, Packages: packages}, *asJSON)...), nil
}
