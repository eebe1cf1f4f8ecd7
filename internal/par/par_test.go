package par

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMap_KeepsTheOrderOfItems(t *testing.T) {
	items := []int{5, 4, 3, 2, 1}
	results, errs := Map(t.Context(), 3, items, func(_ context.Context, n int) (string, error) {
		return fmt.Sprint(n * n), nil
	})
	must.EqualSlices(t, results, []string{"25", "16", "9", "4", "1"}, "results")
	must.Equal(t, errors.Join(errs...), nil)
}

func TestMap_KeepsEveryError(t *testing.T) {
	odd := errors.New("odd")
	results, errs := Map(t.Context(), 2, []int{1, 2, 3}, func(_ context.Context, n int) (int, error) {
		if n%2 == 1 {
			return 0, fmt.Errorf("%d: %w", n, odd)
		}
		return n, nil
	})
	must.Len(t, errs, 3)
	must.Fail(t, errs[0], odd)
	must.Equal(t, errs[1], nil)
	must.Fail(t, errs[2], odd)
	must.Equal(t, results[1], 2)
}

func TestMap_IsBounded(t *testing.T) {
	for _, limit := range []int{-1, 1, 3} {
		var running, most atomic.Int32
		Map(t.Context(), limit, make([]struct{}, 50), func(context.Context, struct{}) (int, error) {
			now := running.Add(1)
			defer running.Add(-1)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			return 0, nil
		})
		if allowed := int32(max(limit, 1)); most.Load() > allowed {
			t.Errorf("limit %d: %d calls at once", limit, most.Load())
		}
	}
}

func TestMap_RunsUpToLimitAtOnce(t *testing.T) {
	// Each call waits for the other: if fewer than two run concurrently, this never ends.
	meet := make(chan struct{})
	_, errs := Map(t.Context(), 2, []int{0, 1}, func(_ context.Context, i int) (int, error) {
		if i == 0 {
			meet <- struct{}{}
		} else {
			<-meet
		}
		return 0, nil
	})
	must.Equal(t, errors.Join(errs...), nil)
}

func TestMap_DoesNotStartWhatIsLeftAfterTheEndOfTheContext(t *testing.T) {
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	var started []int
	_, errs := Map(ctx, 1, []int{1, 2, 3}, func(_ context.Context, n int) (int, error) {
		started = append(started, n)
		if n == 2 {
			cancel(stop)
		}
		return n, nil
	})
	must.EqualSlices(t, started, []int{1, 2}, "started")
	must.EqualSlices(t, errs, []error{nil, nil, stop})
}

// leaving returns a context that is cancelled with this cause when all goroutines in the bubble
// wait.
func leaving(t *testing.T) (context.Context, error) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	go func() {
		synctest.Wait()
		cancel(gone)
	}()
	return ctx, gone
}

func TestMap_OfNothing(t *testing.T) {
	results, errs := Map(t.Context(), 4, nil, func(context.Context, int) (int, error) {
		t.Error("called")
		return 0, nil
	})
	must.Len(t, results, 0, errs)
	must.Len(t, errs, 0, results)
}

func TestTogether_ReturnsTheFirstErrorAndCancelsTheRest(t *testing.T) {
	first := errors.New("first")
	var cause error
	must.Equal(t, Together(t.Context(),
		func(context.Context) error { return first },
		func(ctx context.Context) error {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return ctx.Err()
		},
	), first)
	must.Equal(t, cause, first, "the other's cause")
}

func TestTogether_WaitsForAll(t *testing.T) {
	meet := make(chan int)
	sum := 0
	must.Succeed(t, Together(t.Context(),
		func(context.Context) error { meet <- 1; return nil },
		func(context.Context) error { meet <- 2; return nil },
		func(context.Context) error { sum = <-meet + <-meet; return nil },
	))
	must.Equal(t, sum, 3, "sum")
}

func TestTogether_OfNothing(t *testing.T) {
	must.Equal(t, Together(t.Context()), nil)
}

func TestLimit_BoundsItsHolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := NewLimit(0) // means one
		release := must.Get(limit.Acquire(t.Context(), 0))(t)
		holders := 0
		for range 2 {
			go func() {
				if _, err := limit.Acquire(t.Context(), 0); err == nil {
					holders++
				}
			}()
		}
		synctest.Wait()
		must.Equal(t, holders, 0, "more holders while the place was taken")
		release()
		release() // counts once
		synctest.Wait()
		must.Equal(t, holders, 1, "holders after one release")
	})
}

func TestLimit_StopsWaitingWhenTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := NewLimit(1)
		must.Get(limit.Acquire(t.Context(), 0))(t)
		ctx, gone := leaving(t)
		must.Equal(t, must.ErrorOf(limit.Acquire(ctx, 0)), gone, "err")
	})
}

func TestLimit_PrefersTheEndOfTheContext(t *testing.T) {
	limit := NewLimit(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		must.Refuse(limit.Acquire(ctx, 0))(t, "got a place although the context had ended")
	}
}
