package par

import (
	"context"
	"testing"
)

func TestBudget_EndsWithItsTotal(t *testing.T) {
	t.Parallel()
	b := NewBudget(10)
	for i, c := range []struct {
		part, claimed int64
		ok            bool
	}{{4, 4, true}, {6, 10, true}, {0, 10, true}, {1, 11, false}, {0, 11, false}} {
		if claimed, ok := b.Claim(c.part); claimed != c.claimed || ok != c.ok {
			t.Errorf("claim %d: %d %t, want %d %t", i, claimed, ok, c.claimed, c.ok)
		}
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
	if claimed, _ := b.Claim(0); n != 50 || claimed != 100 {
		t.Errorf("%d were granted of %d", n, claimed)
	}
}
