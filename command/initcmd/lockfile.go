package initcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// saveLocks writes the lock file if it changes.
func saveLocks(r request, before, locks *depsfile.Locks, report providercache.Report) problem.List {
	if locks.Equal(before) {
		return nil
	}
	if err := locks.Save(depsfile.FileName, r.product); err != nil {
		return problem.List{problem.Error("Failed to update dependency lock file", err.Error())}
	}
	if before.Empty() {
		r.view.LockCreated()
	} else {
		r.view.LockChanged()
	}
	if len(report.Incomplete) > 0 {
		return problem.List{view.IncompleteLock(r.product, report.Incomplete)}
	}
	return nil
}

// checkReadonly finds out, before anything is asked for or installed, whether a
// lock file that must not change is good enough as it is.
func checkReadonly(r request, skip map[getproviders.Provider]bool, locks *depsfile.Locks, required getproviders.Requirements) problem.List {
	if !r.opts.readonly {
		return nil
	}
	var changes []string
	var unhashed []getproviders.Provider
	for _, p := range required.Providers() {
		if p.IsBuiltIn() || skip[p] {
			continue
		}
		lock, ok := locks.Provider(p)
		switch wanted := required.Constraints(p); {
		case !ok:
			changes = append(changes, "there is no entry for "+r.product.Short(p))
		case !wanted.Allows(lock.Version):
			changes = append(changes, fmt.Sprintf("%s is locked at %s, but has to be %s", r.product.Short(p), lock.Version, wanted))
		case len(lock.Hashes) > 0 && !slices.ContainsFunc(lock.Hashes, isH1):
			unhashed = append(unhashed, p)
		}
	}
	for _, lock := range locks.All() {
		if _, ok := required[lock.Provider]; !ok {
			changes = append(changes, r.product.Short(lock.Provider)+" has an entry, but is not required any more")
		}
	}
	return slices.Concat(changesDetected(r, changes), hashesMissing(r, unhashed))
}

// compareLocks says what would be written if the lock file could change. What
// plan refuses is an error: plan accepts a package only if the lock file has the
// hash of the package's files, or no hash at all.
func compareLocks(r request, before, locks *depsfile.Locks, report providercache.Report) problem.List {
	if locks.Equal(before) {
		return nil
	}
	var unhashed []getproviders.Provider
	for _, o := range report.Outcomes {
		old, ok := before.Provider(o.Selection.Provider)
		if ok && len(old.Hashes) > 0 && o.H1 != "" && !slices.Contains(old.Hashes, o.H1) {
			unhashed = append(unhashed, o.Selection.Provider)
		}
	}
	if len(unhashed) > 0 {
		return hashesMissing(r, unhashed)
	}
	return problem.List{problem.Warning("Provider lock file not updated", fmt.Sprintf(
		"Changes to the provider selections were detected, but not saved in the %s file, because of "+
			"%s. To record them, run \"%s init\" without it.",
		depsfile.FileName, r.opts.readonlyBy, r.product.Program))}
}

func changesDetected(r request, changes []string) problem.List {
	if len(changes) == 0 {
		return nil
	}
	what := fmt.Sprintf("The lock file %s would have to change, but %s forbids it", depsfile.FileName, r.opts.readonlyBy)
	if _, err := os.Stat(depsfile.FileName); errors.Is(err, fs.ErrNotExist) {
		what = fmt.Sprintf("There is no lock file %s, and %s forbids to make one", depsfile.FileName, r.opts.readonlyBy)
	}
	return problem.List{problem.Error("Provider dependency changes detected", fmt.Sprintf(
		"%s:%s\n\n"+
			"To record what is required now, run \"%s init\" without it. A version that is locked already "+
			"moves only with -upgrade.",
		what, problem.Items(changes), r.product.Program))}
}

func hashesMissing(r request, providers []getproviders.Provider) problem.List {
	if len(providers) == 0 {
		return nil
	}
	names := make([]string, len(providers))
	for i, p := range providers {
		names[i] = r.product.Short(p)
	}
	platform := getproviders.CurrentPlatform()
	return problem.List{problem.Error("Incomplete lock file information for providers", fmt.Sprintf(
		"The lock file %s has no h1 checksum for %s of:%s\n\n"+
			"Without it \"%s plan\" refuses the package, and %s forbids to add it. To add it, run:\n"+
			"  %[4]s providers lock -platform=%[2]s",
		depsfile.FileName, platform, problem.Items(names), r.product.Program, r.opts.readonlyBy))}
}

func isH1(h getproviders.Hash) bool { return h.Scheme() == getproviders.SchemeH1 }
