package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// checkRestrained finds options that want more than -check, -offline, -frozen
// and -lockfile=readonly allow.
func (o *initOptions) checkRestrained() (problems view.Problems) {
	conflict := func(option, with, why string) {
		problems = append(problems, view.NewError(fmt.Sprintf("The %s flag conflicts with %s.", option, with), why+" Leave out one of the two."))
	}
	switch {
	case o.readonly && o.upgrade:
		conflict("-upgrade", o.readonlyBy, "An upgrade has to record what it selects in the lock file.")
	case o.offline && o.upgrade:
		conflict("-upgrade", o.offlineBy, "An upgrade asks which versions there are, and that would take requests.")
	}
	if o.offline && o.state.with != "" {
		conflict(o.by["with"], o.offlineBy, "The program that initializes the backend sends requests of its own.")
	}
	for _, by := range o.forbidsPlatforms() {
		conflict(o.by["platform"], by, "The hashes for other platforms are asked for, and recorded in the lock file. "+
			"Whether it has them, \"tfdeps providers lock -check\" says.")
	}
	if !o.check {
		return problems
	}
	for _, other := range []struct {
		name  string
		given bool
	}{
		{"-upgrade", o.upgrade}, {"-from-module", o.fromModule != ""}, {o.by["with"], o.by["with"] != ""},
		{"-migrate-state", o.state.migrate || o.state.forceCopy},
	} {
		if other.given {
			conflict(other.name, o.by["check"], "It always has something to do.")
		}
	}
	return problems
}

// kept tells which packages are on this machine that would do.
func (r *initRun) kept(p getproviders.Provider) []getproviders.CachedPackage {
	wanted := r.req.Constraints(p)
	return slices.DeleteFunc(r.installer().KnownPackages(p), func(k getproviders.CachedPackage) bool { return !wanted.Allows(k.Version) })
}

// chosenOffline warns of versions that were chosen without asking those who
// may know of others.
func (r *initRun) chosenOffline(report providercache.Report) view.Problems {
	var chosen []string
	for _, o := range report.Outcomes {
		p := o.Selection.Provider
		var unasked []string
		for _, source := range r.source.Unasked(p) {
			unasked = append(unasked, source.Source)
		}
		if !o.Selection.Locked && len(unasked) > 0 {
			chosen = append(chosen, fmt.Sprintf("%s %s, without asking the %s", r.product.Short(p), o.Selection.Version, strings.Join(unasked, " and the ")))
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	return view.Problems{view.NewWarning("Versions chosen offline among what is there", fmt.Sprintf(
		"The lock file has no entry for these providers, and %s allows no request, so that another version may be chosen where requests are allowed:%s",
		r.opts.offlineBy, items(chosen)))}
}
