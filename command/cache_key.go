package command

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// runCacheKey tells the key of what lock files select. It looks at nothing else.
func runCacheKey(m *Meta, args []string) (int, view.Problems, error) {
	var place cachePlace
	platform := getproviders.CurrentPlatform()
	flags := newFlags("cache key")
	place.define(flags)
	github := flags.Bool("github", false, "")
	flags.Func("platform", "", func(given string) (err error) {
		platform, err = getproviders.ParsePlatform(given)
		return err
	})
	paths, err := parseOperands(flags, args)
	if err != nil {
		return 0, nil, err
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	locked, problems := readLocked(paths, m.unversioned())
	if problems.HasErrors() {
		return 0, problems, nil
	}
	key := locked.Key(platform)
	if !*github {
		fmt.Fprintln(m.Stdout, key)
		return 0, problems, nil
	}
	cache, _, unusable := place.find(m)
	if problems = append(problems, unusable...); !problems.HasErrors() {
		view.GitHubOutput(m.Stdout, [][2]string{
			{"path", cache.Dir}, {"key", key}, {"restore-keys", providercache.KeyPrefix(platform)},
		})
	}
	return 0, problems, nil
}
