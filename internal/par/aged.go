package par

import (
	"cmp"
	"context"
	"time"
)

// Aged is a Memo that forgets what is too old. The zero Aged is ready to use.
type Aged[K comparable, V any] struct{ memo Memo[K, dated[V]] }

// dated is a value, and since when it is there.
type dated[V any] struct {
	value V
	since time.Time
}

// Do is [Memo.Do], for a value that isn't older than maxAge: 0 stands for 15 minutes, less for any
// age. A run asks at its beginning; a program that lives longer sees soon what is new. If ctx has
// ended, an error is its cause.
func (a *Aged[K, V]) Do(ctx context.Context, key K, now func() time.Time, maxAge time.Duration, f func(context.Context) (V, error)) (V, error) {
	maxAge = cmp.Or(maxAge, 15*time.Minute)
	a.memo.Expire(key, func(known dated[V]) bool { return maxAge > 0 && now().Sub(known.since) > maxAge })
	known, err := a.memo.Do(ctx, key, func(ctx context.Context) (dated[V], error) {
		value, err := f(ctx)
		return dated[V]{value, now()}, err // a failure that is a value may have taken longer than it counts
	})
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return known.value, err
}

// Forget is [Memo.Forget].
func (a *Aged[K, V]) Forget(key K) { a.memo.Forget(key) }
