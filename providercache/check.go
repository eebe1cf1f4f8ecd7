package providercache

import (
	"context"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// Check reports, without network and without writing, whether Install would have anything to do. Each provider has
// at most one reason: the first that applies, in the order lock file, constraints, hashes, package. Packages
// without a receipt are read and hashed. Fetcher may be nil, because nothing is fetched: that means the zero Fetcher, which is
// Terraform on this machine's platform without receipts. The error is the context's, or says that Target is nil.
func (in *Installer) Check(ctx context.Context, req getproviders.Requirements, locks *depsfile.Locks) (Status, error) {
	if in.Target == nil {
		return Status{}, errNotSet
	}
	in = in.withFetcher()

	locked, reasons := in.CheckLocks(req, locks)
	local := in.inspect(ctx, in.targetView(), locked, resolve.OrEmpty(locks), false)
	if ctx.Err() != nil {
		return Status{}, resolve.Cancelled(ctx)
	}
	for _, s := range locked {
		if code, detail := local[s.Provider].reason(in.packagePath(s.Provider, s.Version), s.Version); code != "" {
			reasons = append(reasons, Reason{Code: code, Provider: s.Provider, Detail: detail})
		}
	}
	slices.SortStableFunc(reasons, resolve.ByProvider)
	return Status{reasons}, nil
}

// CheckLocks is Check for the lock file alone: it looks at no package and needs no Target. It
// returns the versions whose packages can be compared with the lock file, and the reasons in this
// order: required providers, entries that no requirement needs, entries without an h1. Fetcher may be nil, as for Check.
func (in *Installer) CheckLocks(req getproviders.Requirements, locks *depsfile.Locks) (locked []getproviders.Selection, reasons []Reason) {
	in = in.withFetcher()
	locks = resolve.OrEmpty(locks)
	locked, reasons = resolve.Locked(in.fetcher().Product, in.withoutSkipped(req), req, locks)
	locked = slices.DeleteFunc(locked, func(s getproviders.Selection) bool {
		// An unpacked package can only be compared with an h1; Install would have to ask the source.
		none := len(resolve.OfScheme(resolve.Recorded(locks, s), hashing.H1)) == 0
		if none {
			reasons = append(reasons, Reason{Code: "lock_without_hash", Provider: s.Provider, Detail: "the lock file has no h1 hash that an unpacked package could be compared with"})
		}
		return none
	})
	return locked, reasons
}

// withFetcher returns the Installer, with the zero Fetcher if it has none.
func (in *Installer) withFetcher() *Installer {
	if in.Fetcher != nil {
		return in
	}
	return &Installer{Fetcher: &Fetcher{}, Target: in.Target, Cache: in.Cache, Link: in.Link, Skip: in.Skip}
}

// reason returns the code and the detail of what is wrong with the package that belongs at a path, or "" if nothing is.
func (seen localPackage) reason(path string, locked getproviders.Version) (code, detail string) {
	switch {
	case !seen.Exists:
		return "package_absent", fmt.Sprintf("there is no package in %s", path)
	case seen.Err != nil:
		return "package_differs", seen.Err.Error()
	case seen.Refused != nil:
		// The reason names the provider already.
		if failure, ok := getproviders.Failure(seen.Refused); ok {
			return "package_refused", fmt.Sprintf("version %s is %s", locked, failure.Err)
		}
		return "package_refused", seen.Refused.Error()
	case seen.LockUpdate != nil: // a hash of its archive matches, and plan compares the h1 alone
		return "lock_without_hash", fmt.Sprintf("the lock file has no h1 hash of the package in %s", path)
	case !seen.Matches:
		return "package_differs", fmt.Sprintf("the package in %s has none of the hashes that the lock file records", path)
	}
	return "", ""
}

// Status is the result of Check; no reasons means up to date.
type Status struct {
	Reasons []Reason `json:"reasons"` // in the order of providers
}

// UpToDate reports whether an Install would have nothing to do.
func (s Status) UpToDate() bool { return len(s.Reasons) == 0 }

// Reason is why a directory isn't up to date: its Code, the Provider that it is about, and a Detail for people. Code is stable:
// "lock_missing_provider", "lock_without_hash", "constraint_unsatisfied",
// "package_absent", "package_differs", "package_refused",
// "lock_extra_provider", "built_in_invalid".
type Reason = resolve.Reason
