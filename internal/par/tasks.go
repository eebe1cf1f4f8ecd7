package par

import (
	"context"
	"sync"
)

// Tasks are calls that outlive the request that began them, and end with their owner: a server's downloads,
// which other clients wait for when the first one has left. Make one with [NewTasks]; it is safe for many goroutines.
type Tasks struct {
	ended context.Context // by Close
	end   context.CancelCauseFunc
	mu    sync.Mutex // none is added to runs when Close waits for them: that would panic
	runs  sync.WaitGroup
}

// NewTasks returns Tasks of which none runs.
func NewTasks() *Tasks {
	t := new(Tasks)
	t.ended, t.end = context.WithCancelCause(context.Background())
	return t
}

// Begin calls f in a goroutine. The context that f gets has the values of ctx, and ends with Close only. After
// Close, f is still called, with a context that has ended, so that whoever waits for its result gets an error; Close doesn't wait for it.
func (t *Tasks) Begin(ctx context.Context, f func(context.Context)) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	end := func() { cancel(context.Cause(t.ended)) }
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended.Err() != nil {
		end()
		go f(ctx)
		return
	}
	stop := context.AfterFunc(t.ended, end)
	t.runs.Go(func() {
		defer cancel(nil)
		defer stop()
		f(ctx)
	})
}

// Close ends the contexts of all calls with a cause, and waits for the calls.
func (t *Tasks) Close(cause error) {
	t.mu.Lock()
	t.end(cause)
	t.mu.Unlock()
	t.runs.Wait()
}
