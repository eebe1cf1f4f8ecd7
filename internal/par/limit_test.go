package par

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestLimit_ServesTheHeaviestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := NewLimit(1)
		release := must.Get(limit.Acquire(t.Context(), 0))(t)
		var order []string
		for _, caller := range []struct {
			name   string
			weight int64
		}{{"small", 1}, {"large", 9}, {"as large", 9}, {"negative", -1}} {
			go func() {
				release, err := limit.Acquire(t.Context(), caller.weight)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, caller.name)
				release()
			}()
			synctest.Wait() // so that they queue in this order
		}
		release()
		synctest.Wait()
		must.EqualSlices(t, order, []string{"large", "as large", "small", "negative"}, "order")
	})
}

func TestLimit_ForgetsThoseWhoLeaveTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := NewLimit(1)
		release := must.Get(limit.Acquire(t.Context(), 0))(t)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			must.Refuse(limit.Acquire(ctx, 9))(t, "got a place after the context had ended")
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		release()
		must.Get(limit.Acquire(t.Context(), 0))(t)
	})
}
