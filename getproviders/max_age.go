package getproviders

import (
	"context"
	"time"
)

// versionsMaxAge is how long a list of versions is remembered where nobody says. A
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
