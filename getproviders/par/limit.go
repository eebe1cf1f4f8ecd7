package par

import (
	"context"
	"sync"
)

// Limit bounds how many callers hold it at once. Make one with [NewLimit]; it
// is safe for many goroutines.
type Limit struct{ places chan struct{} }

// NewLimit returns a Limit for n holders; n < 1 means one.
func NewLimit(n int) *Limit {
	return &Limit{places: make(chan struct{}, max(n, 1))}
}

// Acquire waits for a place and returns the function that gives it back, or
// ctx's cause if ctx ends first. Calling release more than once does no harm.
func (l *Limit) Acquire(ctx context.Context) (release func(), err error) {
	// A select with both sides ready chooses at random; a context that is done
	// must win, or a cancelled run would go on taking places.
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case l.places <- struct{}{}:
		return sync.OnceFunc(func() { <-l.places }), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
