package par

import (
	"context"
	"sync"
)

// Tasks are calls that outlive the request that began them, and end with their owner: a server's downloads,
// which other clients wait for when the first one has left. Make one with [NewTasks]; it is safe for many goroutines.
type Tasks struct {
	mu     sync.Mutex
	closed error // set by Close
	cancel map[*task]context.CancelCauseFunc
	runs   sync.WaitGroup
}

type task struct{ _ byte } // of a size, so that each has an address of its own

// NewTasks returns Tasks of which none runs.
func NewTasks() *Tasks { return &Tasks{cancel: map[*task]context.CancelCauseFunc{}} }

// Begin calls f in a goroutine. The context that f gets has the values of ctx, and ends with Close only. After
// Close, f is still called, with a context that has ended, so that whoever waits for its result gets an error.
func (t *Tasks) Begin(ctx context.Context, f func(context.Context)) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	key := new(task)
	t.mu.Lock()
	if t.closed != nil {
		cancel(t.closed)
	}
	t.cancel[key] = cancel
	t.runs.Add(1)
	t.mu.Unlock()
	go func() {
		defer t.runs.Done()
		defer func() {
			t.mu.Lock()
			delete(t.cancel, key)
			t.mu.Unlock()
			cancel(nil)
		}()
		f(ctx)
	}()
}

// Close ends the contexts of all calls with a cause, and waits for the calls.
func (t *Tasks) Close(cause error) {
	t.mu.Lock()
	t.closed = cause
	for _, cancel := range t.cancel {
		cancel(cause)
	}
	t.mu.Unlock()
	t.runs.Wait()
}
