package lockhashes

import (
	"context"
	"errors"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// Conclude makes the new locks of a request. f says which unsigned hashes are trusted.
func (r Request) Conclude(ctx context.Context, c Choice, found map[string]Package, f *fetch.Fetcher) (result Result) {
	errs, locks := c.errs, resolve.OrEmpty(r.Locks)
	updated := locks.Clone()
	for i, s := range c.Selections {
		lock := depsfile.Lock{Provider: s.Provider, Version: s.Version, Constraints: s.Constraints}
		old, had := locks.Provider(s.Provider)
		had = had && old.Version == s.Version
		for _, plat := range c.Platforms[i] {
			got, tried := found[KeyOf(s, plat)]
			if !tried {
				continue
			}
			if got.Err != nil {
				errs = append(errs, resolve.OnPlatform(ctx, s, plat, got.Err))
				continue
			}
			got.Selection, got.Previous = s, old.Version
			others := fetch.RegistryHashes(f.TrustedHashes(s.Provider, got.registryHashes), slices.Concat(c.Platforms[i], r.Done)...)
			got.Hashes = hashing.Sort(slices.Concat(got.Hashes, others))
			result.Packages = append(result.Packages, got.compared(old.Hashes, had))
			lock.Hashes = append(lock.Hashes, got.Hashes...)
		}
		updated.Extend(lock)
	}
	slices.SortStableFunc(errs, ByProvider)
	if result.Err = errors.Join(errs...); result.Err == nil {
		result.Locks = updated
	}
	return result
}

// ByProvider compares errors by their provider.
func ByProvider(a, b error) int {
	one, ok := getproviders.Failure(a)
	other, okToo := getproviders.Failure(b)
	if !ok || !okToo {
		return 0
	}
	return one.Provider.Compare(other.Provider)
}

// compared returns the package with what its hashes change in a lock file that records
// the given ones; had says that the lock file has an entry for the version.
func (p Package) compared(recorded []getproviders.Hash, had bool) Package {
	if !had {
		recorded = nil
	}
	lacks := func(h getproviders.Hash) bool { return !slices.Contains(recorded, h) }
	p.New, p.Extended = !had, had && slices.ContainsFunc(p.Hashes, lacks)
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
