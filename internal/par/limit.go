package par

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Limit is a semaphore that serves waiters by weight. Make one with [NewLimit]; many goroutines may
// use it.
type Limit struct {
	mu      sync.Mutex
	free    int
	waiting []*waiter // in the order of arrival
}

// waiter is a caller that waits in Acquire.
type waiter struct {
	weight int64
	turn   chan struct{} // closed when the caller has the place
}

// NewLimit returns a Limit for n holders; n < 1 means 1.
func NewLimit(n int) *Limit { return &Limit{free: max(n, 1)} }

// Acquire waits for a free place and returns the function that releases it, or the cause of ctx if
// ctx is done first. The waiter with the greatest weight is served first; among equal weights, the
// one that came first. release may be called more than once.
func (l *Limit) Acquire(ctx context.Context, weight int64) (release func(), err error) {
	// A select with both cases ready chooses at random, but a context that is done must win, or a
	// cancelled run would continue to take places.
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if w := l.enter(weight); w != nil {
		select {
		case <-w.turn:
		case <-ctx.Done():
			if !l.withdraw(w) {
				l.leave() // its turn came at the same moment
			}
			return nil, context.Cause(ctx)
		}
	}
	return sync.OnceFunc(l.leave), nil
}

// enter takes a free place and returns nil, or queues a waiter and returns it.
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

// withdraw leaves the queue, and returns false if the waiter isn't in it any more.
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

// leave passes a place to the next waiter.
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

// Pause waits for d, or returns the cause of ctx if ctx is done first. It is for polling.
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
