package par_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/par"
)

func TestTasks_OutliveTheCallerAndEndWithTheOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks, closed := par.NewTasks(), errors.New("closed")
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
