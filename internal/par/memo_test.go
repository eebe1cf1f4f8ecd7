package par

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestMemo_RemembersSuccess(t *testing.T) {
	var memo Memo[string, int]
	calls := 0
	for range 3 {
		must.Equal(t, must.Get(memo.Do(t.Context(), "a", func(context.Context) (int, error) {
			calls++
			return 42, nil
		}))(t), 42)
	}
	must.Equal(t, calls, 1, "calls")
}

func TestMemo_ForgetsFailure(t *testing.T) {
	var memo Memo[string, int]
	broken := errors.New("broken")
	must.Equal(t, must.ErrorOf(memo.Do(t.Context(), "a", func(context.Context) (int, error) { return 0, broken })), broken)
	must.Equal(t, must.Get(memo.Do(t.Context(), "a", func(context.Context) (int, error) { return 7, nil }))(t), 7, "second try")
}

func TestMemo_SharesOneCallForAKey(t *testing.T) {
	var memo Memo[string, int]
	started, finish := make(chan struct{}), make(chan struct{})
	calls := 0
	slow := func(context.Context) (int, error) {
		calls++ // the race detector tells if there are two calls
		close(started)
		<-finish
		return calls, nil
	}
	ask := func(ctx context.Context) error {
		got, err := memo.Do(ctx, "a", slow)
		must.Equal(t, got, 1)
		return err
	}
	must.Equal(t, Together(t.Context(), ask, ask, ask, func(context.Context) error {
		<-started
		close(finish)
		return nil
	}), nil)
}

// Whoever asks after Renew gets no value of a call that had begun before.
func TestMemo_RenewedCallIsNotJoined(t *testing.T) {
	var memo Memo[string, int]
	must.Succeed(t, must.ErrorOf(memo.Do(t.Context(), "a", func(context.Context) (int, error) {
		memo.Renew("a")
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // ends the test if it is joined
		defer cancel()
		must.Equal(t, must.Get(memo.Do(ctx, "a", func(context.Context) (int, error) { return 2, nil }))(t), 2)
		return 1, nil
	})))
	must.Equal(t, must.Get(memo.Do(t.Context(), "a", nil))(t), 2, "the value that is kept")
}

func TestMemo_KeysDoNotWaitForOneAnother(t *testing.T) {
	var memo Memo[string, int]
	other := make(chan struct{})
	must.Equal(t, Together(t.Context(),
		func(ctx context.Context) error {
			_, err := memo.Do(ctx, "a", func(context.Context) (int, error) { <-other; return 0, nil })
			return err
		},
		func(ctx context.Context) error {
			_, err := memo.Do(ctx, "b", func(context.Context) (int, error) { close(other); return 0, nil })
			return err
		},
	), nil)
}

// waiting is a call that runs until it is released or cancelled.
type waiting struct {
	started   chan struct{}
	finish    chan struct{}
	cancelled chan error // the cause
}

func newWaiting() waiting {
	return waiting{make(chan struct{}), make(chan struct{}), make(chan error, 1)}
}

func (w waiting) call(ctx context.Context) (string, error) {
	close(w.started)
	select {
	case <-w.finish:
		return "done", nil
	case <-ctx.Done():
		w.cancelled <- context.Cause(ctx)
		return "", ctx.Err()
	}
}

func TestMemo_CallSurvivesTheCallerThatStartedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var memo Memo[string, string]
		w, gone := newWaiting(), errors.New("gone")
		first, cancel := context.WithCancelCause(t.Context())
		go func() {
			must.Equal(t, must.ErrorOf(memo.Do(first, "a", w.call)), gone, "first caller")
		}()
		synctest.Wait()
		go func() {
			must.Equal(t, must.Get(memo.Do(t.Context(), "a", w.call))(t), "done")
		}()
		synctest.Wait()
		cancel(gone)
		synctest.Wait()
		close(w.finish)
		synctest.Wait()
	})
}

func TestMemo_CancelsACallWithoutCallers(t *testing.T) {
	var memo Memo[string, string]
	w, gone := newWaiting(), errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	must.Equal(t, Together(t.Context(),
		func(context.Context) error { <-w.started; cancel(gone); return nil },
		func(context.Context) error { _, err := memo.Do(ctx, "a", w.call); return err },
	), gone)
	must.Equal(t, <-w.cancelled, gone, "the call's cause")
	must.Equal(t, must.Get(memo.Do(t.Context(), "a", func(context.Context) (string, error) { return "again", nil }))(t), "again", "a later caller")
}

func TestMemo_CallHasTheFirstCallersValuesButNotItsDeadline(t *testing.T) {
	type key struct{}
	var memo Memo[int, any]
	ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "traced"), 1<<40)
	defer cancel()
	must.Equal(t, must.Get(memo.Do(ctx, 1, func(ctx context.Context) (any, error) {
		if _, has := ctx.Deadline(); has {
			t.Error("the shared call has one caller's deadline")
		}
		return ctx.Value(key{}), nil
	}))(t), "traced")
}

func TestMemo_HandsOutAValueEvenToACallerThatHasEnded(t *testing.T) {
	var memo Memo[int, int]
	one := func(context.Context) (int, error) { return 1, nil }
	must.Get(memo.Do(t.Context(), 1, one))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		must.Equal(t, must.Get(memo.Do(ctx, 1, one))(t), 1)
	}
}

func TestMemo_SettlesWhenAbandonedCallsHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var memo Memo[string, int]
		memo.Settle() // nothing has run
		ctx, gone := leaving(t)
		ended := false
		_, err := memo.Do(ctx, "a", func(ctx context.Context) (int, error) {
			<-ctx.Done()
			time.Sleep(time.Minute) // to clear up
			ended = true
			return 0, ctx.Err()
		})
		must.Fail(t, err, gone)
		if memo.Settle(); !ended {
			t.Error("settled while the call was running")
		}
	})
}
