package par

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestMark_WakesThoseWhoWaitForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mark Mark
		var got int64
		go func() {
			var err error
			if got, err = mark.Beyond(t.Context(), 2); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		mark.Advance(2)
		synctest.Wait()
		must.Equal(t, got, 0, "woken at")
		mark.Advance(3)
		synctest.Wait()
		must.Equal(t, got, 5)
	})
}

func TestMark_SaysHowItEnded(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct{ given, want error }{{nil, io.EOF}, {broken, broken}} {
		var mark Mark
		mark.Advance(7)
		mark.End(test.given)
		mark.End(errors.New("too late"))
		must.Equal(t, must.Get(mark.Beyond(t.Context(), 6))(t), 7, "what is there")
		at, err := mark.Beyond(t.Context(), 7)
		must.Equal(t, at, 7)
		must.Equal(t, err, test.want)
		if at, err := mark.At(); at != 7 || err != test.want {
			t.Errorf("At: %d, %v", at, err)
		}
	}
}

func TestMark_StopsWaitingWhenTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mark Mark
		ctx, gone := leaving(t)
		must.Equal(t, must.ErrorOf(mark.Beyond(ctx, 0)), gone, "err")
	})
}
