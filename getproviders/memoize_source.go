package getproviders

import (
	"context"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders/par"
)

// Memoize returns a source that asks another one for each thing once and
// remembers the answer, warnings included, as long as it lives; of failures
// nothing is remembered. Whoever asks for the same while the other source is
// being asked waits for that answer.
//
// What is remembered of a package is its description. Documents that its Trust
// loads are loaded each time.
func Memoize(s Source) Source { return &memoized{source: s} }

type memoized struct {
	source   Source
	versions par.Memo[Provider, Available]
	packages par.Memo[packageKey, Package]
}

// packageKey is what Package is asked for.
type packageKey struct {
	provider Provider
	version  Version
	platform Platform
}

// Versions implements Source.
func (m *memoized) Versions(ctx context.Context, p Provider) (Available, error) {
	available, err := m.versions.Do(ctx, p, func(ctx context.Context) (Available, error) {
		return m.source.Versions(ctx, p)
	})
	if err != nil {
		return Available{}, causeOr(ctx, err)
	}
	// Callers may sort what they get.
	return Available{Versions: slices.Clone(available.Versions), Warnings: slices.Clone(available.Warnings)}, nil
}

// Package implements Source.
func (m *memoized) Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error) {
	found, err := m.packages.Do(ctx, packageKey{p, v, plat}, func(ctx context.Context) (Package, error) {
		return m.source.Package(ctx, p, v, plat)
	})
	if err != nil {
		return Package{}, causeOr(ctx, err)
	}
	return found, nil
}

// Describe implements Source.
func (m *memoized) Describe(p Provider) string { return m.source.Describe(p) }

// Unwrap returns the source that is asked.
func (m *memoized) Unwrap() Source { return m.source }
