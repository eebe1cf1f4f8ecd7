package par

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestTasks_OutliveTheCallerAndEndWithTheOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks, closed := NewTasks(), errors.New("closed")
		caller, leave := context.WithCancel(t.Context())
		var cause error
		tasks.Begin(caller, func(ctx context.Context) {
			<-ctx.Done()
			cause = context.Cause(ctx)
		})
		leave()
		synctest.Wait()
		must.Succeed(t, cause)
		tasks.Close(closed)
		must.Equal(t, cause, closed, "cause")
		late := false
		tasks.Begin(t.Context(), func(ctx context.Context) { late = context.Cause(ctx) == closed })
		synctest.Wait()
		if !late {
			t.Error("a task that begins after Close has to find its context ended")
		}
	})
}

// TestTasks_BeginWhileTheOwnerCloses has requests that arrive while a server stops: a WaitGroup whose Add runs during
// Wait may panic; the race detector reports it each time.
func TestTasks_BeginWhileTheOwnerCloses(t *testing.T) {
	for range 3_000 {
		tasks, begun := NewTasks(), make(chan struct{})
		wait := func(ctx context.Context) { <-ctx.Done() }
		tasks.Begin(t.Context(), wait)
		go func() {
			defer close(begun)
			for range 8 {
				tasks.Begin(t.Context(), wait)
			}
		}()
		tasks.Close(errors.New("closed"))
		<-begun
	}
}
