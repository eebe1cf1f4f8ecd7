package command

import (
	"slices"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/providercache"
)

// runCacheVerify reads all packages.
func runCacheVerify(m *Meta, args []string) (int, view.Problems, error) {
	var place cachePlace
	var lockPaths pathList
	flags := newFlags("cache verify")
	place.define(flags)
	flags.Var(&lockPaths, "locked", "")
	repair, asJSON := flags.Bool("repair", false, ""), flags.Bool("json", false, "")
	operands, err := parseOperands(flags, args)
	if err == nil {
		lockPaths, err = lockPaths.with(operands, "-locked")
	}
	if err != nil {
		return 0, nil, err
	}
	cache, _, problems := place.find(m)
	locked, unreadable := readLocked(lockPaths, m.unversioned())
	if problems = append(problems, unreadable...); problems.HasErrors() {
		return 0, problems, nil
	}
	found, err := m.upkeep(cache).Verify(m.Context, locked)
	if err != nil {
		return 0, append(problems, cacheProblem("Failed to verify the cache", err)...), nil
	}
	result := view.CacheVerification{Cache: cache, Found: found}
	if *repair {
		if result.Repaired, err = m.removeDamaged(cache, found); err != nil {
			problems = append(problems, cacheProblem("Failed to remove what is damaged", err)...)
		}
	}
	problems = append(problems, m.report(result, *asJSON)...)
	if slices.ContainsFunc(found, providercache.Verified.Differs) {
		return ExitDiffers, problems, nil
	}
	return 0, problems, nil
}

// removeDamaged takes away the packages that aren't what their receipts say. The
// next init that wants one fetches it. nil: there are none.
func (m *Meta) removeDamaged(cache *providercache.Store, found []providercache.Verified) (*providercache.Removal, error) {
	var damaged []providercache.Cached
	for _, v := range found {
		if v.Finding == providercache.Broken {
			damaged = append(damaged, v.Cached)
		}
	}
	if len(damaged) == 0 {
		return nil, nil
	}
	done, err := m.upkeep(cache).Remove(m.Context, damaged, providercache.RemoveOptions{Linked: true, Others: true})
	return &done, err
}
