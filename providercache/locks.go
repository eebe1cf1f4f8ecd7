package providercache

import (
	"context"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/lockhashes"
)

type (
	// LockRequest says what a lock file is made for: Requirements, the Locks that there are, and the Platforms.
	LockRequest = lockhashes.Request
	// LockResult is the answer to one LockRequest: Locks to write, and one LockedPackage for each package, or Err.
	LockResult = lockhashes.Result
	// LockedPackage is what became known of one package, and how the lock file's entry changes for it.
	LockedPackage = lockhashes.Package
)

// Lock finds the hashes that lock files should have, for any platforms, and returns new locks. Each request has a result of
// its own, all or nothing; the error joins those of all. Nothing is stored but receipts, and no lock file is written.
func (f *Fetcher) Lock(ctx context.Context, requests ...LockRequest) ([]LockResult, error) {
	return lockhashes.Lock(ctx, f.Opened(), requests...)
}

// Locate says where the packages are that Lock would look at, and reads none of them. The results have no Locks; their packages
// have the Package, what is known of hashes, and Bytes if the request asks for Sizes.
func (f *Fetcher) Locate(ctx context.Context, requests ...LockRequest) ([]LockResult, error) {
	return lockhashes.Locate(ctx, f.Opened(), requests...)
}

// Hashes returns what a lock file should hold of one version for each of the platforms: the hashes that Lock finds for its package,
// sorted. Events are those of Lock. No platforms: the Fetcher's.
//
// The map has the platforms that succeeded, and the error joins a
// *getproviders.Fault for each of the others, in the order given.
func (f *Fetcher) Hashes(ctx context.Context, p getproviders.Provider, v getproviders.Version, platforms []getproviders.Platform) (map[getproviders.Platform][]getproviders.Hash, error) {
	if err := v.Validate(); err != nil {
		return nil, err
	}
	locks := new(depsfile.Locks)
	locks.Set(depsfile.Lock{Provider: p, Version: v}) // so that the source isn't asked for versions
	results, _ := f.Lock(ctx, LockRequest{Requirements: getproviders.Requirements{p: {}}, Locks: locks, Platforms: platforms})
	hashes := make(map[getproviders.Platform][]getproviders.Hash, len(platforms))
	for _, pkg := range results[0].Packages {
		hashes[pkg.Platform] = pkg.Hashes
	}
	return hashes, results[0].Err
}

// HashPackage returns the hashes of a package on this machine: of an archive, which has to keep the rules for packages, h1 and
// zh; of a directory h1, while zh is "". When ctx ends, the error is its cause.
func HashPackage(ctx context.Context, path string) (h1, zh getproviders.Hash, err error) {
	return fetch.HashPackage(ctx, path)
}
