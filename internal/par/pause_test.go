package par_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/par"
)

func TestPause_EndsInTimeOrWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := par.Pause(t.Context(), time.Second); err != nil || time.Since(begun) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		go cancel(gone)
		if err := par.Pause(ctx, time.Hour); err != gone || time.Since(begun) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		if err := par.Pause(ctx, 0); err != gone {
			t.Errorf("after the end: %v", err)
		}
	})
}
