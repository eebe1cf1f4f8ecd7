package getproviders

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/internal/par"
)

// Memoize returns a source that asks another one for each thing once and
// remembers the answer, warnings included, for 15 minutes; of failures
// nothing is remembered. Whoever asks for the same while the other source is
// being asked waits for that answer.
//
// What is remembered of a package is its description. Documents that its Trust
// loads are loaded each time.
func Memoize(s Source) Source { return memoizeFor(s, 0) }

// memoizeFor is [Memoize] with another maximum age of answers: 0 is 15 minutes,
// and less than 0 as long as the source lives.
func memoizeFor(s Source, maxAge time.Duration) Source { return &memoized{source: s, maxAge: maxAge} }

type memoized struct {
	source   Source
	maxAge   time.Duration
	now      func() time.Time // nil: time.Now
	versions aging[Provider, Available]
	packages aging[packageKey, Package]
}

// packageKey is what Package is asked for.
type packageKey struct {
	provider Provider
	version  Version
	platform Platform
}

// Versions implements Source.
func (m *memoized) Versions(ctx context.Context, p Provider) (Available, error) {
	available, err := m.versions.get(ctx, p, m.now, m.maxAge, func(ctx context.Context) (Available, error) {
		return m.source.Versions(ctx, p)
	})
	// Callers may sort what they get.
	return Available{Versions: slices.Clone(available.Versions), Warnings: slices.Clone(available.Warnings), Details: available.Details}, err
}

// Package implements Source.
func (m *memoized) Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error) {
	key := packageKey{p, v, plat}
	if again, _ := ctx.Value(askAgain{}).(bool); again {
		m.packages.Expire(key, func(dated[Package]) bool { return true })
	}
	return m.packages.get(ctx, key, m.now, m.maxAge, func(ctx context.Context) (Package, error) {
		return m.source.Package(ctx, p, v, plat)
	})
}

// AskAgain returns a context with which Package of a source that remembers answers, as that of
// [Memoize] does, asks once more: the URL in the answer that it remembers may have expired.
func AskAgain(ctx context.Context) context.Context { return context.WithValue(ctx, askAgain{}, true) }

type askAgain struct{}

// Describe implements Source.
func (m *memoized) Describe(p Provider) Description { return m.source.Describe(p) }

// versionsMaxAge is how long a list of versions is remembered by default. A
// run asks at its beginning; a program that lives longer sees new versions soon.
const versionsMaxAge = 15 * time.Minute

// aging remembers answers until they are too old.
type aging[K comparable, V any] struct{ par.Memo[K, dated[V]] }

// dated is an answer, and when it was asked for.
type dated[V any] struct {
	value V
	asked time.Time
}

// get asks, unless an answer for the key is remembered that isn't older than maxAge: 0
// stands for versionsMaxAge, less for any age. now may be nil.
func (m *aging[K, V]) get(ctx context.Context, key K, now func() time.Time, maxAge time.Duration, ask func(context.Context) (V, error)) (V, error) {
	if now == nil {
		now = time.Now
	}
	maxAge = cmp.Or(maxAge, versionsMaxAge)
	m.Expire(key, func(answer dated[V]) bool { return maxAge > 0 && now().Sub(answer.asked) > maxAge })
	answer, err := m.Do(ctx, key, func(ctx context.Context) (dated[V], error) {
		asked := now()
		value, err := ask(ctx)
		return dated[V]{value, asked}, err
	})
	if err != nil {
		var none V
		return none, causeOr(ctx, err)
	}
	return answer.value, nil
}
