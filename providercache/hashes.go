package providercache

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// Hashes returns what a lock file should hold of one version for the given
// platforms: for each, the h1 of its package's files, all hashes that the
// signature on the version's checksum list covers, and those of further platforms
// that HashPolicy admits, sorted. Packages pass the same checks as when they are
// installed, but for those against a lock file. All platforms are worked on at
// once, within Limits.
//
// Archives are hashed while they arrive, and kept nowhere. One that can only be
// read from its end, which hardly any is, is fetched once more and kept in the
// system's directory for temporary files while it is worked on.
//
// If anything fails, the map is nil and the error joins a [*ProviderError] for
// each platform, in the order given; nothing is observed.
func Hashes(ctx context.Context, f *Fetcher, p getproviders.Provider, v getproviders.Version, platforms []getproviders.Platform) (map[getproviders.Platform][]getproviders.Hash, error) {
	if f.Source == nil {
		return nil, errors.New("an Installer needs a Source")
	}
	s := Selection{Provider: p, Version: v}
	found, errs := par.Map(ctx, f.Limits.withDefaults().Queries, platforms, func(ctx context.Context, plat getproviders.Platform) ([]getproviders.Hash, error) {
		return hashesFor(ctx, f, s, plat, platforms)
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

func hashesFor(ctx context.Context, f *Fetcher, s Selection, plat getproviders.Platform, read []getproviders.Platform) ([]getproviders.Hash, error) {
	if err := cmp.Or(s.Provider.Validate(), s.Version.Validate(), plat.Validate()); err != nil {
		return nil, s.failed(StepMetadata, err)
	}
	pkg, err := f.Source.Package(ctx, s.Provider, s.Version, plat)
	if err != nil {
		return nil, s.failed(StepMetadata, err)
	}
	got, err := f.hashPackage(ctx, task{Selection: s, Package: pkg})
	if err != nil {
		return nil, err
	}
	told := toldHashes(f.HashPolicy.believed(got.Told), read...)
	return getproviders.SortHashes(slices.Concat([]getproviders.Hash{got.H1}, got.Authentication.Signed, told)), nil
}

// hashPackage reads a package, and writes it nowhere if that can be helped.
func (f *Fetcher) hashPackage(ctx context.Context, t task) (genuine, error) {
	if dir, ok := t.Package.Location.(getproviders.LocalDirectory); ok {
		return f.judgeDirectory(ctx, t, string(dir))
	}
	got, err := f.hashOnTheWay(ctx, t)
	if !errors.Is(err, unpack.ErrNotStreamable) {
		return got, err
	}
	temporary, err := os.MkdirTemp("", "tfdeps-")
	if err != nil {
		return genuine{}, t.failed(StepFetch, err)
	}
	defer os.RemoveAll(temporary)
	return f.obtainArchive(ctx, t, filepath.Join(temporary, "archive.zip"), "", nil)
}

// hashOnTheWay hashes an archive while it passes by. errOdd: that can't be done.
func (f *Fetcher) hashOnTheWay(ctx context.Context, t task) (genuine, error) {
	var trust getproviders.Trust
	var received unpack.HashedStream
	var content unpack.Content
	err := par.Together(ctx,
		func(ctx context.Context) (err error) {
			trust, err = t.loadTrust(ctx)
			return err
		},
		func(ctx context.Context) (err error) {
			received, content, err = f.hashPassing(ctx, t)
			if err != nil && !errors.Is(err, unpack.ErrNotStreamable) {
				err = t.failed(StepFetch, err)
			}
			return err
		},
	)
	if err != nil {
		return genuine{}, err
	}
	digests := getproviders.Digests{SHA256: received.SHA256, H1: content.H1, H1Archive: content.H1Archive}
	authentication, err := t.judge(trust.Authenticator, digests, f.Product)
	if err != nil {
		return genuine{}, err
	}
	return genuine{
		Authentication: authentication, H1: content.H1, ZH: getproviders.ZH(received.SHA256), Origin: t.Package.SourceURL,
		ArchiveBytes: received.Size, Told: t.otherRegistryHashes(trust),
	}, nil
}

// platformError adds the platform to what a provider's error says.
func platformError(ctx context.Context, s Selection, plat getproviders.Platform, err error) error {
	failure := failureOf(ctx, s, err)
	failure.Err = &PlatformError{Platform: plat, Err: failure.Err}
	return failure
}
