package getproviders

import (
	"context"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/internal/par"
)

// Memoize returns a source that asks another source for each thing once and caches the answer,
// warnings included, for 15 minutes. It doesn't cache failures. Concurrent callers with the same
// question share one query.
//
// It caches the description of a package. Documents that its Trust loads are loaded each time.
func Memoize(s Source) Source { return &memoized{source: s} }

type memoized struct {
	source   Source
	versions par.Aged[Provider, Available]
	packages par.Aged[packageKey, Package]
}

// packageKey identifies the question that Package answers.
type packageKey struct {
	provider Provider
	version  Version
	platform Platform
}

// Versions implements Source.
func (m *memoized) Versions(ctx context.Context, p Provider) (Available, error) {
	available, err := m.versions.Do(ctx, p, time.Now, 0, func(ctx context.Context) (Available, error) {
		return m.source.Versions(ctx, p)
	})
	// Callers may sort the slices.
	return Available{
		Versions:   slices.Clone(available.Versions),
		Warnings:   slices.Clone(available.Warnings),
		PassedOver: slices.Clone(available.PassedOver),
		Details:    available.Details,
	}, err
}

// Package implements Source.
func (m *memoized) Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error) {
	key := packageKey{p, v, plat}
	if again, _ := ctx.Value(askAgain{}).(bool); again {
		m.packages.Forget(key)
	}
	return m.packages.Do(ctx, key, time.Now, 0, func(ctx context.Context) (Package, error) {
		return m.source.Package(ctx, p, v, plat)
	})
}

// AskAgain returns a context with which Package of a caching source, such as [Memoize], ignores its
// cached answer: the URL in that answer may have expired.
func AskAgain(ctx context.Context) context.Context { return context.WithValue(ctx, askAgain{}, true) }

type askAgain struct{}

// Describe implements Source.
func (m *memoized) Describe(p Provider) Description { return m.source.Describe(p) }
