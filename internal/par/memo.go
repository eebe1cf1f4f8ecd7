package par

import (
	"cmp"
	"context"
	"regexp"
	"sync"
	"time"
)

// Memo remembers the result of a function for each key. Callers with the same
// key share one call; callers with other keys never wait for it. Failures are
// handed to everyone who was waiting and then forgotten, so a later caller
// tries again. The zero Memo is ready to use, and safe for many goroutines; it
// must not be copied after its first use.
type Memo[K comparable, V any] struct {
	mu    sync.Mutex
	calls map[K]*call[V] // running, or ended with success
	runs  sync.WaitGroup // of calls, those included that no caller waits for
}

// call is one run of a function and those who wait for it.
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

// Do returns the remembered value for key, or calls f to get it. A caller
// whose own ctx ends stops waiting and gets the cause; the shared call goes on
// as long as at least one caller still waits for it.
//
// The context that f gets carries the values of the first caller's ctx, but
// neither its deadline nor its end: it is cancelled when the last caller has stopped waiting.
func (m *Memo[K, V]) Do(ctx context.Context, key K, f func(context.Context) (V, error)) (V, error) {
	c := m.join(ctx, key, f)
	defer m.leave(ctx, key, c)
	select {
	case <-c.done:
	case <-ctx.Done():
		if !c.ended() { // a value that is there is handed out even so
			var none V
			return none, context.Cause(ctx)
		}
	}
	return c.value, c.err
}

// Known returns the value that is remembered for key. It calls nothing and waits for no call that runs.
func (m *Memo[K, V]) Known(key K) (value V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.calls[key]
	if !ok || !c.ended() {
		return value, false
	}
	return c.value, true
}

// join returns the call for key, started if there was none.
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

// run makes the call and wakes those who wait.
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

// Expire forgets the value that is remembered for key, if it is stale. It
// doesn't wait for a call that runs.
func (m *Memo[K, V]) Expire(key K, stale func(V) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c, ok := m.calls[key]; ok && c.ended() && stale(c.value) {
		delete(m.calls, key)
	}
}

// Forget forgets the value that is remembered for key. It doesn't wait for a call that runs.
func (m *Memo[K, V]) Forget(key K) { m.Expire(key, func(V) bool { return true }) }

// Settle waits until no call runs any more, those included that were cancelled
// because no caller waited. It is for the end: no Do may begin meanwhile.
func (m *Memo[K, V]) Settle() { m.runs.Wait() }

// leave counts one caller out. The last one to leave a call that hasn't ended
// cancels it, and no later caller may join what is cancelled.
func (m *Memo[K, V]) leave(ctx context.Context, key K, c *call[V]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.waiters--
	if c.waiters == 0 && !c.ended() {
		c.cancel(context.Cause(ctx))
		m.drop(key, c)
	}
}

// drop is forget for those who hold the lock. An abandoned call may end when
// another one for the same key is running already; that one stays.
func (m *Memo[K, V]) drop(key K, c *call[V]) {
	if m.calls[key] == c {
		delete(m.calls, key)
	}
}

// Interruptible returns what f returns, or why ctx has ended as soon as it ends: f, which is told so, goes on in the background then.
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
	if ctx.Err() != nil { // what was returned may have been cut off
		err = context.Cause(ctx)
	}
	return got.a, got.b, err
}

// OnceRegexp compiles a pattern when it is first asked for.
func OnceRegexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

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
