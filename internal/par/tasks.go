package par

import (
	"context"
	"sync"
)

// Tasks are calls that outlive the request that started them, and end with their owner: a server's downloads, which
// other clients wait for when the first one has left. Make one with [NewTasks]; many goroutines may use it.
type Tasks struct {
	ended context.Context // cancelled by Close
	end   context.CancelCauseFunc
	mu    sync.Mutex // Begin must not add to runs while Close waits: that would panic
	runs  sync.WaitGroup
}

// NewTasks returns Tasks without calls.
func NewTasks() *Tasks {
	t := new(Tasks)
	t.ended, t.end = context.WithCancelCause(context.Background())
	return t
}

// Begin calls f in a goroutine. Its context has the values of ctx, but only Close cancels it. After Close, f is still called, with a
// cancelled context, so that callers that wait for its result get an error; Close doesn't wait for it.
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

// Close cancels the contexts of all calls with a cause, and waits for the calls.
func (t *Tasks) Close(cause error) {
	t.mu.Lock()
	t.end(cause)
	t.mu.Unlock()
	t.runs.Wait()
}
