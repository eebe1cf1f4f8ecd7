package par

import (
	"cmp"
	"context"
	"regexp"
	"sync"
	"time"
)

// Memo caches the result of a function for each key. Callers with the same key share one call;
// callers with other keys never wait for it. An error goes to all waiting callers and isn't cached,
// so a later caller tries again. The zero Memo is ready to use. Many goroutines may use it. It must
// not be copied after its first use.
type Memo[K comparable, V any] struct {
	mu    sync.Mutex
	calls map[K]*call[V] // running, or successful
	runs  sync.WaitGroup // all running calls, including abandoned ones
}

// call is one run of a function, with the number of its waiters.
type call[V any] struct {
	cancel  context.CancelCauseFunc
	waiters int           // guarded by Memo.mu
	done    chan struct{} // closed when value and err are final
	value   V
	err     error
}

// ended reports whether value and err are final.
func (c *call[V]) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Do returns the cached value for key, or calls f to get it. If a caller's own ctx is done, it
// stops waiting and gets the cause of ctx; the shared call continues as long as at least one caller
// waits for it. If ctx is done, an error is its cause.
//
// f gets a context with the values of the first caller's ctx, but not its deadline or cancellation:
// it is cancelled when the last caller stops waiting.
func (m *Memo[K, V]) Do(ctx context.Context, key K, f func(context.Context) (V, error)) (V, error) {
	c := m.join(ctx, key, f)
	defer m.leave(ctx, key, c)
	select {
	case <-c.done:
	case <-ctx.Done():
		if !c.ended() { // a result that is ready is returned nevertheless
			var none V
			return none, context.Cause(ctx)
		}
	}
	if c.err != nil && ctx.Err() != nil { // the callers share c.err
		return c.value, context.Cause(ctx)
	}
	return c.value, c.err
}

// Known returns the cached value for key. It doesn't call the function, nor wait for a running call.
func (m *Memo[K, V]) Known(key K) (value V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.calls[key]
	if !ok || !c.ended() {
		return value, false
	}
	return c.value, true
}

// join returns the call for key, and starts it if it doesn't exist.
func (m *Memo[K, V]) join(ctx context.Context, key K, f func(context.Context) (V, error)) *call[V] {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c, ok := m.calls[key]; ok {
		c.waiters++
		return c
	}
	shared, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	c := &call[V]{cancel: cancel, waiters: 1, done: make(chan struct{})}
	if m.calls == nil {
		m.calls = make(map[K]*call[V])
	}
	m.calls[key] = c
	m.runs.Go(func() { m.run(shared, key, c, f) })
	return c
}

// run runs the call and wakes the waiters.
func (m *Memo[K, V]) run(ctx context.Context, key K, c *call[V], f func(context.Context) (V, error)) {
	defer c.cancel(nil)
	c.value, c.err = f(ctx)
	if c.err != nil {
		m.mu.Lock()
		m.drop(key, c)
		m.mu.Unlock()
	}
	close(c.done)
}

// Expire removes the cached value for key if it is stale. It doesn't wait for a running call.
func (m *Memo[K, V]) Expire(key K, stale func(V) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c, ok := m.calls[key]; ok && c.ended() && stale(c.value) {
		delete(m.calls, key)
	}
}

// Forget removes the cached value for key. It doesn't wait for a running call.
func (m *Memo[K, V]) Forget(key K) { m.Expire(key, func(V) bool { return true }) }

// Renew makes the next caller of Do call the function, also if a call for key runs. That call goes on for those who wait for it.
func (m *Memo[K, V]) Renew(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.calls, key)
}

// Settle waits until all calls have ended, including abandoned ones. It is for the end: no call of
// Do may begin during Settle.
func (m *Memo[K, V]) Settle() { m.runs.Wait() }

// leave removes one waiter. The last waiter of a running call cancels it, and removes it from the
// map so that no later caller joins it.
func (m *Memo[K, V]) leave(ctx context.Context, key K, c *call[V]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.waiters--
	if c.waiters == 0 && !c.ended() {
		c.cancel(context.Cause(ctx))
		m.drop(key, c)
	}
}

// drop removes c; the caller holds the lock. An abandoned call may end while another one for the
// same key runs; that one stays.
func (m *Memo[K, V]) drop(key K, c *call[V]) {
	if m.calls[key] == c {
		delete(m.calls, key)
	}
}

// Interruptible returns the results of f, or the cause of ctx as soon as ctx is done; f's context is cancelled then, but f may
// continue in the background.
func Interruptible[A, B any](ctx context.Context, f func(context.Context) (A, B)) (a A, b B, err error) {
	type results struct {
		a A
		b B
	}
	var once Memo[struct{}, results]
	got, err := once.Do(ctx, struct{}{}, func(ctx context.Context) (r results, err error) {
		r.a, r.b = f(ctx)
		return r, nil
	})
	if ctx.Err() != nil { // f's results may be incomplete
		err = context.Cause(ctx)
	}
	return got.a, got.b, err
}

// OnceRegexp returns a function that compiles a pattern on its first call.
func OnceRegexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// Aged is a Memo whose values expire. The zero Aged is ready to use.
type Aged[K comparable, V any] struct{ memo Memo[K, dated[V]] }

// dated is a value with the time when it was made.
type dated[V any] struct {
	value V
	since time.Time
}

// Do is [Memo.Do], for a value that isn't older than maxAge: 0 means 15 minutes, a negative maxAge
// any age. So a run asks once at its beginning, and a long-running program soon sees what is new.
func (a *Aged[K, V]) Do(ctx context.Context, key K, now func() time.Time, maxAge time.Duration, f func(context.Context) (V, error)) (V, error) {
	maxAge = cmp.Or(maxAge, 15*time.Minute)
	a.memo.Expire(key, func(known dated[V]) bool { return maxAge > 0 && now().Sub(known.since) > maxAge })
	known, err := a.memo.Do(ctx, key, func(ctx context.Context) (dated[V], error) {
		value, err := f(ctx)
		return dated[V]{value, now()}, err // now() after f: otherwise a value that takes longer than maxAge would be stale at once
	})
	return known.value, err
}

// Forget is [Memo.Forget].
func (a *Aged[K, V]) Forget(key K) { a.memo.Forget(key) }

// Trim forgets all values if there are more than most.
func (a *Aged[K, V]) Trim(most int) {
	a.memo.mu.Lock()
	defer a.memo.mu.Unlock()
	if len(a.memo.calls) > most {
		clear(a.memo.calls) // those that are running serve their callers
	}
}
