package par

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestPause_EndsInTimeOrWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		must.Succeed(t, Pause(t.Context(), time.Second))
		must.Equal(t, time.Since(begun), time.Second, "after")
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		go cancel(gone)
		must.Equal(t, Pause(ctx, time.Hour), gone)
		must.Equal(t, time.Since(begun), time.Second)
		must.Equal(t, Pause(ctx, 0), gone, "after the end")
	})
}
