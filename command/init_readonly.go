package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// checkReadonly finds out, before anything is asked for or installed, whether
// a lock file that must not change is good enough as it is.
func (r *initRun) checkReadonly() view.Problems {
	if !r.opts.readonly {
		return nil
	}
	var changes []string
	var unhashed []getproviders.Provider
	for _, p := range r.req.Providers() {
		if p.IsBuiltIn() || r.skip[p] {
			continue
		}
		lock, ok := r.locks.Provider(p)
		switch wanted := r.req.Constraints(p); {
		case !ok:
			changes = append(changes, "there is no entry for "+r.product.Short(p))
		case !wanted.Allows(lock.Version):
			changes = append(changes, fmt.Sprintf("%s is locked at %s, but has to be %s", r.product.Short(p), lock.Version, wanted))
		case len(lock.Hashes) > 0 && !slices.ContainsFunc(lock.Hashes, isH1):
			unhashed = append(unhashed, p)
		}
	}
	for _, lock := range r.locks.All() {
		if _, ok := r.req[lock.Provider]; !ok {
			changes = append(changes, r.product.Short(lock.Provider)+" has an entry, but is not required any more")
		}
	}
	return slices.Concat(r.changesDetected(changes), r.hashesMissing(unhashed))
}

// compareLocks judges what would have been written, had it been allowed. What
// plan would stumble over is an error: it accepts a package only if the lock
// file has the hash of the package's files, or no hash at all.
func (r *initRun) compareLocks(locks *depsfile.Locks, report providercache.Report) view.Problems {
	if locks.Equal(r.locks) {
		return nil
	}
	var unhashed []getproviders.Provider
	for _, o := range report.Outcomes {
		old, ok := r.locks.Provider(o.Selection.Provider)
		if ok && len(old.Hashes) > 0 && o.H1 != "" && !slices.Contains(old.Hashes, o.H1) {
			unhashed = append(unhashed, o.Selection.Provider)
		}
	}
	if len(unhashed) > 0 {
		return r.hashesMissing(unhashed)
	}
	return view.Problems{view.NewWarning("Provider lock file not updated", fmt.Sprintf(
		"Changes to the provider selections were detected, but not saved in the %s file, because of "+
			"%s. To record them, run \"%s init\" without it.",
		depsfile.FileName, r.opts.readonlyBy, r.product.Program))}
}

func (r *initRun) changesDetected(changes []string) view.Problems {
	if len(changes) == 0 {
		return nil
	}
	what := fmt.Sprintf("The lock file %s would have to change, but %s forbids it", depsfile.FileName, r.opts.readonlyBy)
	if _, err := os.Stat(depsfile.FileName); errors.Is(err, fs.ErrNotExist) {
		what = fmt.Sprintf("There is no lock file %s, and %s forbids to make one", depsfile.FileName, r.opts.readonlyBy)
	}
	return view.Problems{view.NewError("Provider dependency changes detected", fmt.Sprintf(
		"%s:%s\n\n"+
			"To record what is required now, run \"%s init\" without it. A version that is locked already "+
			"moves only with -upgrade.",
		what, items(changes), r.product.Program))}
}

func (r *initRun) hashesMissing(providers []getproviders.Provider) view.Problems {
	if len(providers) == 0 {
		return nil
	}
	names := make([]string, len(providers))
	for i, p := range providers {
		names[i] = r.product.Short(p)
	}
	platform := getproviders.CurrentPlatform()
	return view.Problems{view.NewError("Incomplete lock file information for providers", fmt.Sprintf(
		"The lock file %s has no h1 checksum for %s of:%s\n\n"+
			"Without it \"%s plan\" refuses the package, and %s forbids to add it. To add it, run:\n"+
			"  %[4]s providers lock -platform=%[2]s",
		depsfile.FileName, platform, items(names), r.product.Program, r.opts.readonlyBy))}
}

func isH1(h getproviders.Hash) bool { return h.Scheme() == getproviders.SchemeH1 }

// items writes a list below a sentence.
func items(texts []string) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString("\n  - " + text)
	}
	return b.String()
}
