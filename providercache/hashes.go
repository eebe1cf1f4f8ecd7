package providercache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// Hashes returns what a lock file should hold of one version for the given
// platforms: for each, the h1 of its package's files and all hashes that the
// signature on the version's checksum list covers, sorted. Packages pass the
// same checks as when they are installed, but for those against a lock file.
// All platforms are worked on at once, within Limits.
//
// Archives are unpacked to nowhere. Each is kept in the system's directory for
// temporary files while it is worked on: a zip archive is read from its end,
// and memory is no place for it.
//
// If anything fails, the map is nil and the error joins a [*ProviderError] for
// each platform, in the order given; nothing is observed.
func (in *Installer) Hashes(ctx context.Context, p getproviders.Provider, v getproviders.Version, platforms []getproviders.Platform) (map[getproviders.Platform][]getproviders.Hash, error) {
	if in.Source == nil {
		return nil, errors.New("an Installer needs a Source")
	}
	s := Selection{Provider: p, Version: v}
	found, errs := par.Map(ctx, in.Limits.withDefaults().Queries, platforms, func(ctx context.Context, plat getproviders.Platform) ([]getproviders.Hash, error) {
		return in.hashes(ctx, s, plat)
	})
	hashes := make(map[getproviders.Platform][]getproviders.Hash, len(platforms))
	for i, plat := range platforms {
		hashes[plat] = found[i]
		if errs[i] != nil {
			errs[i] = platformError(ctx, s, plat, errs[i])
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return hashes, nil
}

func (in *Installer) hashes(ctx context.Context, s Selection, plat getproviders.Platform) ([]getproviders.Hash, error) {
	pkg, err := in.Source.Package(ctx, s.Provider, s.Version, plat)
	if err != nil {
		return nil, s.failed(StepMetadata, err)
	}
	got, err := in.hashPackage(ctx, task{Selection: s, Package: pkg})
	if err != nil {
		return nil, err
	}
	return getproviders.SortHashes(slices.Concat([]getproviders.Hash{got.H1}, got.Authentication.Signed)), nil
}

func (in *Installer) hashPackage(ctx context.Context, t task) (genuine, error) {
	if dir, ok := t.Package.Location.(getproviders.LocalDirectory); ok {
		return in.judgeDirectory(ctx, t, string(dir))
	}
	temporary, err := os.MkdirTemp("", "tfdeps-")
	if err != nil {
		return genuine{}, t.failed(StepFetch, err)
	}
	defer os.RemoveAll(temporary)
	return in.obtainArchive(ctx, t, filepath.Join(temporary, "archive.zip"), "", nil)
}

// platformError adds the platform to what a provider's error says.
func platformError(ctx context.Context, s Selection, plat getproviders.Platform, err error) error {
	failure := failureOf(ctx, s, err)
	failure.Err = fmt.Errorf("%s: %w", plat, failure.Err)
	return failure
}
