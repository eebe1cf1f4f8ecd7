package getproviders

import (
	"context"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/getproviders/par"
)

// Memoize returns a source that asks another one for each thing once and
// remembers the answer, warnings included, for 15 minutes; of failures
// nothing is remembered. Whoever asks for the same while the other source is
// being asked waits for that answer.
//
// What is remembered of a package is its description. Documents that its Trust
// loads are loaded each time.
func Memoize(s Source) Source { return MemoizeFor(s, 0) }

// MemoizeFor is [Memoize] with another maximum age of answers: 0 is 15 minutes,
// and less than 0 as long as the source lives.
func MemoizeFor(s Source, maxAge time.Duration) Source { return &memoized{source: s, maxAge: maxAge} }

type memoized struct {
	source   Source
	maxAge   time.Duration
	now      func() time.Time // nil: time.Now
	versions par.Memo[Provider, dated[Available]]
	packages par.Memo[packageKey, dated[Package]]
}

// packageKey is what Package is asked for.
type packageKey struct {
	provider Provider
	version  Version
	platform Platform
}

// Versions implements Source.
func (m *memoized) Versions(ctx context.Context, p Provider) (Available, error) {
	m.versions.Expire(p, expired[Available](m.now, m.maxAge))
	answer, err := m.versions.Do(ctx, p, dating(m.now, func(ctx context.Context) (Available, error) {
		return m.source.Versions(ctx, p)
	}))
	if err != nil {
		return Available{}, causeOr(ctx, err)
	}
	available := answer.value
	// Callers may sort what they get.
	return Available{Versions: slices.Clone(available.Versions), Warnings: slices.Clone(available.Warnings), Details: available.Details}, nil
}

// Package implements Source.
func (m *memoized) Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error) {
	key := packageKey{p, v, plat}
	if again, _ := ctx.Value(askAgain{}).(bool); again {
		m.packages.Expire(key, func(dated[Package]) bool { return true })
	}
	m.packages.Expire(key, expired[Package](m.now, m.maxAge))
	found, err := m.packages.Do(ctx, key, dating(m.now, func(ctx context.Context) (Package, error) {
		return m.source.Package(ctx, p, v, plat)
	}))
	if err != nil {
		return Package{}, causeOr(ctx, err)
	}
	return found.value, nil
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

// dated is an answer, and when it was asked for.
type dated[V any] struct {
	value V
	asked time.Time
}

// dating adds the time to what ask returns; now may be nil.
func dating[V any](now func() time.Time, ask func(context.Context) (V, error)) func(context.Context) (dated[V], error) {
	return func(ctx context.Context) (dated[V], error) {
		asked := clock(now)()
		value, err := ask(ctx)
		return dated[V]{value, asked}, err
	}
}

// expired reports whether an answer is older than maxAge: 0 stands for
// versionsMaxAge, less for any age.
func expired[V any](now func() time.Time, maxAge time.Duration) func(dated[V]) bool {
	if maxAge == 0 {
		maxAge = versionsMaxAge
	}
	return func(answer dated[V]) bool { return maxAge > 0 && clock(now)().Sub(answer.asked) > maxAge }
}

func clock(now func() time.Time) func() time.Time {
	if now == nil {
		return time.Now
	}
	return now
}
