package par_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/par"
)

func TestMemo_RemembersSuccess(t *testing.T) {
	var memo par.Memo[string, int]
	calls := 0
	for range 3 {
		got, err := memo.Do(t.Context(), "a", func(context.Context) (int, error) {
			calls++
			return 42, nil
		})
		if got != 42 || err != nil {
			t.Fatalf("got %d, %v", got, err)
		}
	}
	if calls != 1 {
		t.Errorf("%d calls, want 1", calls)
	}
}

func TestMemo_ForgetsFailure(t *testing.T) {
	var memo par.Memo[string, int]
	broken := errors.New("broken")
	if _, err := memo.Do(t.Context(), "a", func(context.Context) (int, error) { return 0, broken }); err != broken {
		t.Fatalf("err = %v", err)
	}
	got, err := memo.Do(t.Context(), "a", func(context.Context) (int, error) { return 7, nil })
	if got != 7 || err != nil {
		t.Errorf("second try: %d, %v", got, err)
	}
}

func TestMemo_SharesOneCallForAKey(t *testing.T) {
	var memo par.Memo[string, int]
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
		if got != 1 {
			t.Errorf("got %d, want the first call's 1", got)
		}
		return err
	}
	err := par.Together(t.Context(), ask, ask, ask, func(context.Context) error {
		<-started
		close(finish)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestMemo_KeysDoNotWaitForOneAnother(t *testing.T) {
	var memo par.Memo[string, int]
	other := make(chan struct{})
	err := par.Together(t.Context(),
		func(ctx context.Context) error {
			_, err := memo.Do(ctx, "a", func(context.Context) (int, error) { <-other; return 0, nil })
			return err
		},
		func(ctx context.Context) error {
			_, err := memo.Do(ctx, "b", func(context.Context) (int, error) { close(other); return 0, nil })
			return err
		},
	)
	if err != nil {
		t.Error(err)
	}
}

// waiting is a call that runs until it is let go or cancelled.
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
		var memo par.Memo[string, string]
		w, gone := newWaiting(), errors.New("gone")
		first, cancel := context.WithCancelCause(t.Context())
		go func() {
			if _, err := memo.Do(first, "a", w.call); err != gone {
				t.Errorf("first caller: %v, want its own cause", err)
			}
		}()
		synctest.Wait()
		go func() {
			got, err := memo.Do(t.Context(), "a", w.call)
			if got != "done" || err != nil {
				t.Errorf("second caller: %q, %v", got, err)
			}
		}()
		synctest.Wait()
		cancel(gone)
		synctest.Wait()
		close(w.finish)
		synctest.Wait()
	})
}

func TestMemo_CancelsACallWithoutCallers(t *testing.T) {
	var memo par.Memo[string, string]
	w, gone := newWaiting(), errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := par.Together(t.Context(),
		func(context.Context) error { <-w.started; cancel(gone); return nil },
		func(context.Context) error { _, err := memo.Do(ctx, "a", w.call); return err },
	)
	if err != gone {
		t.Errorf("err = %v, want %v", err, gone)
	}
	if cause := <-w.cancelled; cause != gone {
		t.Errorf("the call's cause = %v, want %v", cause, gone)
	}
	got, err := memo.Do(t.Context(), "a", func(context.Context) (string, error) { return "again", nil })
	if got != "again" || err != nil {
		t.Errorf("a later caller got %q, %v", got, err)
	}
}

func TestMemo_CallHasTheFirstCallersValuesButNotItsDeadline(t *testing.T) {
	type key struct{}
	var memo par.Memo[int, any]
	ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "traced"), 1<<40)
	defer cancel()
	got, err := memo.Do(ctx, 1, func(ctx context.Context) (any, error) {
		if _, has := ctx.Deadline(); has {
			t.Error("the shared call has one caller's deadline")
		}
		return ctx.Value(key{}), nil
	})
	if got != "traced" || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestMemo_HandsOutAValueEvenToACallerThatHasEnded(t *testing.T) {
	var memo par.Memo[int, int]
	one := func(context.Context) (int, error) { return 1, nil }
	if _, err := memo.Do(t.Context(), 1, one); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		if got, err := memo.Do(ctx, 1, one); got != 1 || err != nil {
			t.Fatalf("got %d, %v", got, err)
		}
	}
}

func TestMemo_SettlesWhenAbandonedCallsHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var memo par.Memo[string, int]
		memo.Settle() // nothing has run
		ctx, cancel := context.WithCancelCause(t.Context())
		gone, ended := errors.New("gone"), false
		go func() {
			synctest.Wait()
			cancel(gone)
		}()
		_, err := memo.Do(ctx, "a", func(ctx context.Context) (int, error) {
			<-ctx.Done()
			time.Sleep(time.Minute) // to clear up
			ended = true
			return 0, ctx.Err()
		})
		if !errors.Is(err, gone) {
			t.Fatal(err)
		}
		if memo.Settle(); !ended {
			t.Error("settled while the call was running")
		}
	})
}
