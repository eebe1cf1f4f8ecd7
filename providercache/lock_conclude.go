package providercache

import (
	"context"
	"errors"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// conclude makes the new locks of a request.
func (r LockRequest) conclude(ctx context.Context, c choice, found map[packageKey]hashed, policy HashPolicy) (result LockResult) {
	errs, locks := c.errs, orEmpty(r.Locks)
	updated := locks.Clone()
	for i, s := range c.selections {
		lock := depsfile.Lock{Provider: s.Provider, Version: s.Version, Constraints: s.Constraints}
		old, had := locks.Provider(s.Provider)
		had = had && old.Version == s.Version
		for _, plat := range c.platforms[i] {
			got := found[keyOf(s, plat)]
			if got.err != nil {
				errs = append(errs, platformError(ctx, s, plat, got.err))
				continue
			}
			got.Selection, got.Previous = s, old.Version
			told := toldHashes(policy.believed(got.told), slices.Concat(c.platforms[i], r.Done)...)
			got.Hashes = getproviders.SortHashes(slices.Concat(got.Hashes, told))
			result.Packages = append(result.Packages, got.compared(old.Hashes, had))
			lock.Hashes = append(lock.Hashes, got.Hashes...)
		}
		updated.Extend(lock)
	}
	slices.SortStableFunc(errs, byProvider)
	if result.Err = errors.Join(errs...); result.Err == nil {
		result.Locks = updated
	}
	return result
}

// byProvider puts errors into the order of providers.
func byProvider(a, b error) int {
	one, ok := errors.AsType[*ProviderError](a)
	other, okToo := errors.AsType[*ProviderError](b)
	if !ok || !okToo {
		return 0
	}
	return one.Provider.Compare(other.Provider)
}

// compared returns the package with what its hashes mean to a lock file that has
// these for the version; had says that it has the version.
func (p LockedPackage) compared(recorded []getproviders.Hash, had bool) LockedPackage {
	if !had {
		recorded = nil
	}
	lacks := func(h getproviders.Hash) bool { return !slices.Contains(recorded, h) }
	switch {
	case !had:
		p.Change = LockNew
	case slices.ContainsFunc(p.Hashes, lacks):
		p.Change = LockExtended
	}
	own := []getproviders.Hash{p.H1}
	if slices.Contains(p.Hashes, p.ZH) {
		own = append(own, p.ZH)
	}
	for _, h := range own {
		if lacks(h) {
			p.Missing = append(p.Missing, h)
		}
	}
	return p
}
