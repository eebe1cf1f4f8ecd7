package store

import (
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestStore_EachLockedTakesLocksAsTheyAreFree(t *testing.T) {
	t.Parallel()
	c := &Store{Dir: t.TempDir()}
	unlock := must.Get(c.tryLockPackage("b"))(t)
	if _, err := c.tryLockPackage("b"); err == nil {
		t.Skip("there are no locks here")
	}
	var turns []string
	EachLocked(t.Context(), c, []string{"a", "b", "c"}, strings.Clone, func(held []string) {
		turns = append(turns, strings.Join(held, " "))
		for _, name := range []string{"a", "c"} {
			unlock, err := c.tryLockPackage(name)
			must.Equal(t, err == nil, len(turns) > 1, name)
			if err == nil {
				unlock()
			}
		}
		if len(turns) == 1 {
			unlock()
		}
	})
	must.EqualSlices(t, turns, []string{"a c", "b"})
}

func TestStore_EachLockedEndsWithTheContext(t *testing.T) {
	t.Parallel()
	c := &Store{Dir: t.TempDir()}
	unlock := must.Get(c.tryLockPackage("a"))(t)
	defer unlock()
	if _, err := c.tryLockPackage("a"); err == nil {
		t.Skip("there are no locks here")
	}
	ctx, cancel := cachetest.ContextWithCause(t)
	time.AfterFunc(10*time.Millisecond, func() { cancel(cachetest.ErrStopped) })
	EachLocked(ctx, c, []string{"a", "b"}, strings.Clone, func(held []string) { t.Errorf("turn of %v", held) })
}
