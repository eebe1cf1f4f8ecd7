package providercache

import (
	"context"
	"errors"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/lockhashes"
)

type (
	// LockRequest has the Requirements, the current Locks and the Platforms of one lock file. Its further fields are Only (the
	// providers whose entries may change), AllPlatforms, Done (platforms that are left out), Upgrade (the providers that get
	// another version, and which one) and Sizes (Locate asks for the size of each archive).
	LockRequest = lockhashes.Request
	// LockResult is the result of one LockRequest: Locks to write, and in Packages one LockedPackage for each package, or Err.
	LockResult = lockhashes.Result
	// LockedPackage has the hashes of one package, and how the lock file's entry changes. It embeds an Outcome, whose State says how
	// the hashes were found. Its fields are ZH, Hashes, New, Extended, Previous (the version that was locked before), Package (set by
	// Locate) and Missing (hashes that the lock file lacks).
	LockedPackage = lockhashes.Package
)

// Lock finds the hashes that lock files should have, for any platforms, and returns new locks. Each request succeeds or
// fails as a whole; the error joins those of all requests. Lock stores nothing but receipts, and writes no lock file.
func (f *Fetcher) Lock(ctx context.Context, requests ...LockRequest) ([]LockResult, error) {
	return lockhashes.Lock(ctx, f.Opened(), requests...)
}

// Locate finds where the packages are that Lock would look at, and reads none of them. The results have no
// Locks; their packages have the Package, the known hashes, and Bytes if the request asks for Sizes.
func (f *Fetcher) Locate(ctx context.Context, requests ...LockRequest) ([]LockResult, error) {
	return lockhashes.Locate(ctx, f.Opened(), requests...)
}

// Hashes returns the hashes that a lock file should hold for one version, sorted, for each of the
// platforms, as Lock finds them. Its events are those of Lock. No platforms means the Fetcher's.
//
// The map has the platforms that succeeded, and the error joins a
// *getproviders.Fault for each of the others, in the order given.
func (f *Fetcher) Hashes(ctx context.Context, p getproviders.Provider, v getproviders.Version, platforms []getproviders.Platform) (map[getproviders.Platform][]getproviders.Hash, error) {
	if err := v.Validate(); err != nil {
		return nil, err
	}
	locks := new(depsfile.Locks)
	locks.Set(depsfile.Lock{Provider: p, Version: v}) // so that the source isn't asked for versions

	required := getproviders.Requirements{p: {}}
	requests := []LockRequest{{Requirements: required, Locks: locks}}
	if len(platforms) > 0 {
		requests = nil
	}
	for _, plat := range platforms { // apart, because a request fails as a whole
		requests = append(requests, LockRequest{Requirements: required, Locks: locks, Platforms: []getproviders.Platform{plat}})
	}

	results, err := f.Lock(ctx, requests...)
	hashes := make(map[getproviders.Platform][]getproviders.Hash, len(platforms))
	for _, result := range results {
		for _, pkg := range result.Packages {
			hashes[pkg.Platform] = pkg.Hashes
		}
	}

	return hashes, errors.Join(getproviders.SplitErrors(err)...)
}

// HashPackage returns the hashes of a package on this machine: h1 and zh of an archive, which has to keep
// the rules for packages; h1 of a directory, and "" for zh. When ctx ends, the error is its cause.
func HashPackage(ctx context.Context, path string) (h1, zh getproviders.Hash, err error) {
	return fetch.HashPackage(ctx, path)
}
