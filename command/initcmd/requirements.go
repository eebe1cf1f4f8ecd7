package initcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/hashing"
)

// requirements finds out which providers are needed and, before anything is asked
// for or installed, whether a lock file that must not change is good enough as it is.
// With -check, the rest is no error, but something to do.
func requirements(in *installation, record *backend.Record) (getproviders.Requirements, bool) {
	r := in.request
	required, problems := require(r, in.dir, record)
	if ok := r.log.Add(problems...); !ok || r.opts.check {
		return required, ok
	}
	warnSameTypes(r, required)
	refuseOverrides(r, in.settings, required)
	return required, r.log.Add(checkReadonly(r, in.settings.skip, in.dir.Locks, required)...)
}

// refuseOverrides refuses providers that come past the policy, if it says so.
func refuseOverrides(r request, s settings, required getproviders.Requirements) {
	for _, refusal := range s.policy.CheckOverrides(s.overriddenBy, required.Providers()) {
		r.log.Fail("refused_by_policy", "A provider comes past the policy",
			"Provider %s: %v.\n\nTo install it as a package, take it out of dev_overrides in the CLI configuration, and out of the variable %s.",
			r.product.Short(refusal.Provider), refusal, sources.ReattachVariable)
	}
}

// warnSameTypes warns of providers of one type in both namespaces that OpenTofu takes for its own.
func warnSameTypes(r request, required getproviders.Requirements) {
	if !products.Of(r.product).Guesses {
		return
	}
	alike := map[string][]string{}
	for _, p := range required.Providers() {
		if p.Namespace == "hashicorp" || p.Namespace == "opentofu" {
			alike[p.Type] = append(alike[p.Type], r.product.Short(p))
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(alike)) {
		if len(alike[typ]) > 1 {
			r.log.Warningf("", "Potential provider misconfiguration",
				"There are several providers of the type %s: %s. If that isn't what you want, one of the modules or the state names the wrong one.",
				typ, strings.Join(alike[typ], ", "))
		}
	}
}

// require finds out which providers are needed.
func require(r request, dir *workdir.Dir, record *backend.Record) (getproviders.Requirements, problem.List) {
	required, known, problems := dir.Requirements(r.meta, r.opts.stateFile, record)
	if known || !dir.Locks.Empty() || r.opts.backend.with != "" {
		return required, problems
	}
	switch {
	case record.IsLocal():
		problems = append(problems, problem.Warningf("", "Providers that only the state needs may be missing",
			"The state is encrypted, and only %s reads it; there is no lock file that would tell what it needs. "+
				"If plan says that a provider is missing, run \"tfdeps init -with=%[2]s\", which asks for the state, or \"%[2]s state pull | tfdeps init -state=-\".",
			r.product.Name, r.product.Program))
	case record.Type != "inmem":
		problems = append(problems, problem.Warningf("", "Providers that only the state needs may be missing",
			"The state is in the care of the backend %q, which wasn't asked, and there is no lock file that would tell what it needs. "+
				"If plan says that a provider is missing, run \"tfdeps init -with=%s\", which asks for the state, or hand the state over with -state=FILE, where - is standard input.",
			record.Type, r.product.Program))
	}
	return required, problems
}

// checkReadonly compares a lock file that must not change with what is required.
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

func changesDetected(r request, changes []string) problem.List {
	if len(changes) == 0 {
		return nil
	}
	what := fmt.Sprintf("The lock file %s would have to change, but %s forbids it", depsfile.FileName, r.opts.readonlyBy)
	if _, err := os.Stat(depsfile.FileName); errors.Is(err, fs.ErrNotExist) {
		what = fmt.Sprintf("There is no lock file %s, and with %s none is written", depsfile.FileName, r.opts.readonlyBy)
	}
	return problem.Fail("lock_file_outdated", "Provider dependency changes detected",
		"%s:%s\n\n"+
			"To record what is required now, run \"%s init\" without it. A version that is locked already "+
			"changes only with -upgrade.",
		what, problem.Items(changes), r.product.Program)
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
	return problem.Fail("lock_file_outdated", "Incomplete lock file information for providers",
		"The lock file %s has no h1 checksum for %s of:%s\n\n"+
			"Without it \"%s plan\" refuses the package, and %s allows no addition. To add it, run:\n"+
			"  %[4]s providers lock -platform=%[2]s",
		depsfile.FileName, platform, problem.Items(names), r.product.Program, r.opts.readonlyBy)
}

func isH1(h getproviders.Hash) bool { return h.Scheme() == hashing.H1 }
