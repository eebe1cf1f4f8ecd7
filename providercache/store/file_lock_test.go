package store

import (
	"slices"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/providercache/internal/cachetest"
)

func TestStore_EachLockedTakesLocksAsTheyAreFree(t *testing.T) {
	t.Parallel()
	c := &Store{Dir: t.TempDir()}
	unlock, err := c.tryLockPackage("b")
	cachetest.Must(t, err)
	if _, err := c.tryLockPackage("b"); err == nil {
		t.Skip("there are no locks here")
	}
	var turns [][]int
	left := c.EachLocked(t.Context(), []string{"a", "b", "c"}, func(held []int) {
		turns = append(turns, slices.Clone(held))
		for _, name := range []string{"a", "c"} {
			if _, err := c.tryLockPackage(name); (err == nil) != (len(turns) > 1) {
				t.Errorf("turn %d: %s: %v", len(turns), name, err)
			}
		}
		if len(turns) == 1 {
			unlock()
		}
	})
	if len(left) > 0 || len(turns) != 2 || !slices.Equal(turns[0], []int{0, 2}) || !slices.Equal(turns[1], []int{1}) {
		t.Errorf("turns %v, left %v", turns, left)
	}
}

func TestStore_EachLockedEndsWithTheContext(t *testing.T) {
	t.Parallel()
	c := &Store{Dir: t.TempDir()}
	unlock, err := c.tryLockPackage("a")
	cachetest.Must(t, err)
	defer unlock()
	if _, err := c.tryLockPackage("a"); err == nil {
		t.Skip("there are no locks here")
	}
	ctx, cancel := cachetest.ContextWithCause(t)
	time.AfterFunc(10*time.Millisecond, func() { cancel(cachetest.ErrStopped) })
	if left := c.EachLocked(ctx, []string{"a", "b"}, func(held []int) { t.Errorf("turn of %v", held) }); !slices.Equal(left, []int{0, 1}) {
		t.Errorf("left %v", left)
	}
}
