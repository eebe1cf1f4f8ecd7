package lockhashes

import (
	"context"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
)

// Hashes returns what a lock file should hold of one version for the given
// platforms: for each, the hashes that [Lock] finds for its package, sorted. Events
// are those of Lock. No platforms: the Fetcher's.
//
// The map has the platforms that succeeded, and the error joins a
// *getproviders.Fault for each of the others, in the order given.
func Hashes(ctx context.Context, f *fetch.Fetcher, p getproviders.Provider, v getproviders.Version, platforms []getproviders.Platform) (map[getproviders.Platform][]getproviders.Hash, error) {
	if err := v.Validate(); err != nil {
		return nil, err
	}
	locks := new(depsfile.Locks)
	locks.Set(depsfile.Lock{Provider: p, Version: v}) // so that the source isn't asked for versions
	results, _ := Lock(ctx, f, Request{Requirements: getproviders.Requirements{p: {}}, Locks: locks, Platforms: platforms})
	hashes := make(map[getproviders.Platform][]getproviders.Hash, len(platforms))
	for _, pkg := range results[0].Packages {
		hashes[pkg.Platform] = pkg.Hashes
	}
	return hashes, results[0].Err
}
