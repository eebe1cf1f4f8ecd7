package providercache

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// Check says, without network and without writing, whether Install would have
// anything to do. Each provider has at most one reason: the first that holds,
// in the order lock file, constraints, hashes, package. Packages that no receipt
// knows are read and hashed. The error is the context's, or says that there is no Target.
func (in *Installer) Check(ctx context.Context, req getproviders.Requirements, locks *depsfile.Locks) (Status, error) {
	if in.Target == nil {
		return Status{}, errors.New("an Installer needs a Target")
	}
	locks = resolve.OrEmpty(locks)
	wanted := in.withoutSkipped(req)
	local := in.inspect(ctx, lockedSelections(wanted, locks), locks, inTarget)
	if ctx.Err() != nil {
		return Status{}, resolve.Cancelled(ctx)
	}
	status := Status{Reasons: []Reason{}}
	for _, p := range wanted.Providers() {
		s := getproviders.Selection{Provider: p, Constraints: req.Constraints(p)}
		if code, detail := in.reason(s, locks, local[p]); code != "" {
			status.Reasons = append(status.Reasons, Reason{Code: code, Provider: p, Detail: detail})
		}
	}
	for _, lock := range locks.All() {
		if _, required := req[lock.Provider]; !required {
			status.Reasons = append(status.Reasons, Reason{Code: "lock_extra_provider", Provider: lock.Provider, Detail: "the lock file has an entry that no requirement needs"})
		}
	}
	slices.SortStableFunc(status.Reasons, func(a, b Reason) int { return a.Provider.Compare(b.Provider) })
	return status, nil
}

// lockedSelections lists the locked versions that have an h1, with which an
// unpacked package can be compared. Without one, the source would have to be
// asked.
func lockedSelections(req getproviders.Requirements, locks *depsfile.Locks) (locked []getproviders.Selection) {
	for _, p := range req.Providers() {
		if lock, ok := locks.Provider(p); ok && len(resolve.OfScheme(lock.Hashes, hashing.H1)) > 0 {
			locked = append(locked, getproviders.Selection{Provider: p, Version: lock.Version})
		}
	}
	return locked
}

// reason returns the code and the detail of what is wrong with a provider;
// nothing if all is well.
func (in *Installer) reason(s getproviders.Selection, locks *depsfile.Locks, seen localPackage) (code, detail string) {
	if s.Provider.IsBuiltIn() {
		if err := resolve.BuiltInProblem(s, in.fetcher().Product); err != nil {
			return "built_in_invalid", err.Error()
		}
		return "", ""
	}
	lock, locked := locks.Provider(s.Provider)
	switch {
	case !locked:
		return "lock_missing_provider", "the lock file has no entry for it"
	case !s.Constraints.Allows(lock.Version):
		return "constraint_unsatisfied", fmt.Sprintf("version %s is locked, and %s is required", lock.Version, s.Constraints)
	case len(resolve.OfScheme(lock.Hashes, hashing.H1)) == 0:
		return "lock_without_hash", "the lock file has no h1 hash that an unpacked package could be compared with"
	case !seen.Exists:
		return "package_absent", fmt.Sprintf("there is no package in %s", in.packagePath(s.Provider, lock.Version))
	case seen.Err != nil:
		return "package_differs", seen.Err.Error()
	case seen.Refused != nil:
		// The reason names the provider already.
		if failure, ok := getproviders.Failure(seen.Refused); ok {
			return "package_refused", fmt.Sprintf("version %s is %s", lock.Version, failure.Err)
		}
		return "package_refused", seen.Refused.Error()
	case !seen.Matches:
		return "package_differs", fmt.Sprintf("the package in %s has none of the hashes that the lock file records", in.packagePath(s.Provider, lock.Version))
	}
	return "", ""
}
