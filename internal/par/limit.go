package par

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Limit bounds how many callers hold it at once. Make one with [NewLimit]; it
// is safe for many goroutines.
type Limit struct {
	mu      sync.Mutex
	free    int
	waiting []*waiter // in the order in which they came
}

// waiter is a caller that waits for a place.
type waiter struct {
	weight int64
	turn   chan struct{} // closed when the place is the caller's
}

// NewLimit returns a Limit for n holders; n < 1 means one.
func NewLimit(n int) *Limit { return &Limit{free: max(n, 1)} }

// Acquire waits for a place and returns the function that gives it back, or
// ctx's cause if ctx ends first. Of those who wait, the one with the greatest
// weight comes first; with equal weights, the one who came first. Calling
// release more than once does no harm.
func (l *Limit) Acquire(ctx context.Context, weight int64) (release func(), err error) {
	// A select with both sides ready chooses at random; a context that is done
	// must win, or a cancelled run would go on taking places.
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if w := l.enter(weight); w != nil {
		select {
		case <-w.turn:
		case <-ctx.Done():
			if !l.withdraw(w) {
				l.leave() // its turn came in the same moment
			}
			return nil, context.Cause(ctx)
		}
	}
	return sync.OnceFunc(l.leave), nil
}

// enter takes a free place, or queues.
func (l *Limit) enter(weight int64) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.free > 0 {
		l.free--
		return nil
	}
	w := &waiter{weight: weight, turn: make(chan struct{})}
	l.waiting = append(l.waiting, w)
	return w
}

// withdraw leaves the queue; false if the waiter isn't in it any more.
func (l *Limit) withdraw(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, w)
	if i < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	return true
}

// leave gives a place to the next one.
func (l *Limit) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.free++
		return
	}
	next := 0
	for i, w := range l.waiting {
		if w.weight > l.waiting[next].weight {
			next = i
		}
	}
	close(l.waiting[next].turn)
	l.waiting = slices.Delete(l.waiting, next, next+1)
}

// Pause waits for d, or returns ctx's cause if ctx ends first. It is for what
// can only be asked about again and again.
func Pause(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
