package lockhashes

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// Hashes returns what a lock file should hold of one version for the given
// platforms: for each, the h1 of its package's files, all hashes that the
// signature on the version's checksum list covers, and those of further platforms
// that HashPolicy admits, sorted. Packages pass the same checks as when they are
// installed, but for those against a lock file. All platforms are worked on at
// once, within Limits.
//
// Archives are hashed while they arrive, and not kept. The few that can only be
// read when they are complete are downloaded once more, to a temporary file.
//
// The map has the platforms that succeeded, and the error joins a
// *resolve.ProviderError for each of the others, in the order given. No events are reported.
func Hashes(ctx context.Context, f *fetcher.Fetcher, p getproviders.Provider, v getproviders.Version, platforms []getproviders.Platform) (map[getproviders.Platform][]getproviders.Hash, error) {
	if f.Source == nil {
		return nil, errNoSource
	}
	s := resolve.Selection{Provider: p, Version: v}
	found, errs := par.Map(ctx, f.Limits.WithDefaults().Queries, platforms, func(ctx context.Context, plat getproviders.Platform) ([]getproviders.Hash, error) {
		return hashesFor(ctx, f, s, plat, platforms)
	})
	hashes := make(map[getproviders.Platform][]getproviders.Hash, len(platforms))
	for i, plat := range platforms {
		if errs[i] != nil {
			errs[i] = resolve.OnPlatform(ctx, s, plat, errs[i])
			continue
		}
		hashes[plat] = found[i]
	}
	return hashes, errors.Join(errs...)
}

func hashesFor(ctx context.Context, f *fetcher.Fetcher, s resolve.Selection, plat getproviders.Platform, read []getproviders.Platform) ([]getproviders.Hash, error) {
	if err := cmp.Or(s.Provider.Validate(), s.Version.Validate(), plat.Validate()); err != nil {
		return nil, s.Failed(resolve.StepMetadata, err)
	}
	pkg, err := f.Source.Package(ctx, s.Provider, s.Version, plat)
	if err != nil {
		return nil, s.Failed(resolve.StepMetadata, err)
	}
	got, err := f.HashPackage(ctx, fetcher.Request{Selection: s, Package: pkg})
	if err != nil {
		return nil, err
	}
	others := fetcher.RegistryHashes(f.TrustedHashes(s.Provider, got.RegistryHashes), read...)
	return getproviders.SortHashes(slices.Concat([]getproviders.Hash{got.H1}, got.Authentication.Signed, others)), nil
}
