package command

import (
	"github.com/tfdeps/tfdeps/command/view"
)

// runCacheDir tells where the cache is, for scripts: the path and nothing else.
func runCacheDir(m *Meta, args []string) (int, view.Problems, error) {
	var place cachePlace
	flags := newFlags("cache dir")
	place.define(flags)
	asJSON := flags.Bool("json", false, "")
	if err := parseOptions(flags, args); err != nil {
		return 0, nil, err
	}
	cache, _, problems := place.find(m)
	if problems.HasErrors() {
		return 0, problems, nil
	}
	if err := view.CacheDir(m.Stdout, cache, *asJSON); err != nil {
		problems = append(problems, cacheProblem("Failed to write the directory", err)...)
	}
	return 0, problems, nil
}
