package par

import (
	"context"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestBudget_EndsWithItsTotal(t *testing.T) {
	t.Parallel()
	b := NewBudget(10)
	for i, c := range []struct {
		part, claimed int64
		ok            bool
	}{{4, 4, true}, {6, 10, true}, {0, 10, true}, {1, 11, false}, {0, 11, false}} {
		claimed, ok := b.Claim(c.part)
		must.Equal(t, claimed, c.claimed, i)
		must.Equal(t, ok, c.ok, i)
	}
}

func TestBudget_CountsClaimsOfManyGoroutines(t *testing.T) {
	t.Parallel()
	b := NewBudget(50)
	granted, _ := Map(t.Context(), 8, make([]struct{}, 100), func(_ context.Context, _ struct{}) (bool, error) {
		_, ok := b.Claim(1)
		return ok, nil
	})
	n := 0
	for _, ok := range granted {
		if ok {
			n++
		}
	}
	claimed, _ := b.Claim(0)
	must.Equal(t, n, 50)
	must.Equal(t, claimed, 100)
}
