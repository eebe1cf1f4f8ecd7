package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// addPlatforms reads a value of -platform: a platform, several with commas
// between, or "all".
func (o *initOptions) addPlatforms(given string) error {
	for text := range strings.SplitSeq(given, ",") {
		plat, err := getproviders.ParsePlatform(strings.TrimSpace(text))
		switch {
		case strings.TrimSpace(text) == "all":
			o.allPlatforms = true
		case err != nil:
			return fmt.Errorf("%w, or \"all\"", err)
		default:
			o.platforms = append(o.platforms, plat)
		}
	}
	return nil
}

// setHashes reads whom to believe about hashes.
func (o *initOptions) setHashes(given string) (err error) {
	o.hashes, err = parseHashPolicy(given)
	return err
}

// foreignPlatforms are those that -platform names besides the one that this is,
// which every init serves.
func (o *initOptions) foreignPlatforms() []getproviders.Platform {
	current := getproviders.CurrentPlatform()
	return slices.DeleteFunc(slices.Clone(o.platforms), func(plat getproviders.Platform) bool { return plat == current })
}

// wantsPlatforms reports whether there is more to lock than what is installed.
func (o *initOptions) wantsPlatforms() bool {
	return o.allPlatforms || len(o.foreignPlatforms()) > 0
}

// forbidsPlatforms says what keeps hashes for other platforms from being recorded,
// if any are wanted.
func (o *initOptions) forbidsPlatforms() []string {
	if !o.wantsPlatforms() {
		return nil
	}
	by := []string{o.readonlyBy, o.offlineBy}
	if o.check {
		by = append(by, o.by["check"])
	}
	return slices.Compact(slices.DeleteFunc(by, func(name string) bool { return name == "" }))
}

// lockPlatforms adds to new locks the hashes for the platforms that -platform
// names. Their packages are put nowhere. Nothing has been recorded yet: a lock
// file that is good for some of the platforms only isn't what was asked for.
func (r *initRun) lockPlatforms(locks *depsfile.Locks) (*depsfile.Locks, view.Problems) {
	if !r.opts.wantsPlatforms() {
		return locks, nil
	}
	required := maps.Clone(r.req)
	maps.DeleteFunc(required, func(p getproviders.Provider, _ []getproviders.Requirement) bool { return r.skip[p] || p.IsBuiltIn() })
	told := r.view.Platforms()
	installer := r.installer()
	installer.Fetcher.Observe = providercache.Observer(told.Observe)
	result := providercache.Lock(r.Context, installer.Fetcher, providercache.LockRequest{
		Requirements: required, Locks: locks,
		Platforms: r.opts.foreignPlatforms(), AllPlatforms: r.opts.allPlatforms,
		Done: []getproviders.Platform{getproviders.CurrentPlatform()},
	})[0]
	problems := told.End()
	if result.Err != nil {
		return nil, append(problems, view.LockProblems(r.product, view.LockedDir{Result: result})...)
	}
	return result.Locks, problems
}
