package par

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestRoom_OneAccountGoesOnWhereAllWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := NewRoom(10, time.Minute)
		first, second, third := room.Open(), room.Open(), room.Open()
		for _, a := range []*Account{first, second} {
			must.Succeed(t, a.Take(t.Context(), 5))
		}
		if err := first.Take(t.Context(), 5); err != nil { // nothing is free: it goes ahead
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		for name, a := range map[string]*Account{"second": second, "third": third} {
			all.Go(func() {
				if name == "third" {
					time.Sleep(time.Second)
				}
				must.Equal(t, a.Take(t.Context(), 5), nil, name)
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				a.Close()
			})
		}
		time.Sleep(10 * time.Second)
		mu.Lock()
		must.Len(t, order, 0, "got what isn't there")
		mu.Unlock()
		first.Close()
		all.Wait()
		if len(order) != 2 || room.free != 10 || room.ahead != nil || len(room.waiting) > 0 {
			t.Errorf("%q, %+v", order, room)
		}
	})
}

func TestRoom_SaysNoInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := NewRoom(10, time.Minute)
		one, two, three := room.Open(), room.Open(), room.Open()
		must.Fail(t, one.Take(t.Context(), 11), ErrNoRoom, "more than there is")
		for _, a := range []*Account{one, two} { // the second one goes ahead
			must.Succeed(t, a.Take(t.Context(), 10))
		}
		begun := time.Now()
		must.Fail(t, three.Take(t.Context(), 1), ErrNoRoom, "after", time.Since(begun))
		must.Equal(t, time.Since(begun), time.Minute, "after")
		left := errors.New("left")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, left)
		defer cancel()
		must.Fail(t, three.Take(ctx, 1), left)
		one.Close()
		must.Fail(t, one.Take(t.Context(), 1), ErrNoRoom, "a closed account takes more")
		two.Close()
		if room.free != 10 || len(room.waiting) > 0 {
			t.Errorf("%+v", room)
		}
	})
}
