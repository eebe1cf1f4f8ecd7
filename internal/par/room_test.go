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
	t.Parallel()
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
				if err := a.Take(t.Context(), 5); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				a.Close()
			})
		}
		time.Sleep(10 * time.Second)
		mu.Lock()
		if len(order) > 0 {
			t.Errorf("%q got what isn't there", order)
		}
		mu.Unlock()
		first.Close()
		all.Wait()
		if len(order) != 2 || room.free != 10 || room.ahead != nil || len(room.waiting) > 0 {
			t.Errorf("%q, %+v", order, room)
		}
	})
}

func TestRoom_SaysNoInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := NewRoom(10, time.Minute)
		one, two, three := room.Open(), room.Open(), room.Open()
		if err := one.Take(t.Context(), 11); !errors.Is(err, ErrNoRoom) {
			t.Errorf("more than there is: %v", err)
		}
		for _, a := range []*Account{one, two} { // the second one goes ahead
			must.Succeed(t, a.Take(t.Context(), 10))
		}
		begun := time.Now()
		if err := three.Take(t.Context(), 1); !errors.Is(err, ErrNoRoom) || time.Since(begun) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		left := errors.New("left")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, left)
		defer cancel()
		if err := three.Take(ctx, 1); !errors.Is(err, left) {
			t.Error(err)
		}
		one.Close()
		if err := one.Take(t.Context(), 1); !errors.Is(err, ErrNoRoom) {
			t.Errorf("a closed account takes more: %v", err)
		}
		two.Close()
		if room.free != 10 || len(room.waiting) > 0 {
			t.Errorf("%+v", room)
		}
	})
}
