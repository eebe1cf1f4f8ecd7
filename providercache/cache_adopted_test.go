package providercache_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// The cache may get the package from another program while it is fetched here. That package is
// hashed before it is used in place of the fetched one, and hashed again before it gets a receipt.
// If it changes between the two, it isn't used and gets no receipt.
func TestCache_WhatChangesWhileItIsAdoptedIsNotUsed(t *testing.T) {
	m := parallelMachine(t)
	first := m.directory()
	m.install(first, nil)
	sound := treeOf(t, first.Target.Dir)
	succeed(t, os.RemoveAll(m.State)) // as if another program had put it there
	dir, file := packageA(t, m.Cache)
	for _, mode := range []providercache.LinkMode{providercache.LinkCopy, providercache.LinkHardlink} {
		good := read(t, file)
		d := m.directory()
		d.Link = mode
		changed := false
		d.Fetcher.Observe = func(_ context.Context, e event.Event) {
			if e.Kind == event.Hashing && e.Path == dir && !changed {
				changed = true
				succeed(t, os.Remove(file))
				write(t, file, "evil")
			}
		}
		m.install(d, nil)
		if !changed {
			t.Fatal("the package wasn't read, so this test shows nothing")
		}
		must.Equal(t, treeOf(t, d.Target.Dir), sound, mode)
		succeed(t, os.Remove(file))
		write(t, file, good)
		succeed(t, os.RemoveAll(m.State))
	}
}

// A package that changes after the cache was inspected and before it is linked isn't used either;
// with strict times, even if its mtime is set back.
func TestCache_WhatChangesBeforeItIsLinkedIsNotUsed(t *testing.T) {
	needsReceipts(t)
	for _, mode := range []providercache.LinkMode{providercache.LinkCopy, providercache.LinkHardlink} {
		for _, strict := range []bool{false, true} {
			whatChangesBeforeItIsLinked(t, mode, strict)
		}
	}
}

func whatChangesBeforeItIsLinked(t *testing.T, mode providercache.LinkMode, strict bool) {
	t.Run(fmt.Sprintf("%v, strict times %t", mode, strict), func(t *testing.T) {
		m := parallelMachine(t)
		m.Strict = strict
		d := m.directory()
		d.Link = mode
		locks, _ := m.install(d, nil)
		sound := treeOf(t, d.Target.Dir)
		_, file := packageA(t, m.Cache)
		here, _ := packageA(t, d.Target.Dir)
		succeed(t, os.RemoveAll(here))
		age()
		d = m.again(d)
		m.install(d, locks) // which renews the receipts
		succeed(t, os.RemoveAll(here))
		d = m.again(d)
		changed := false
		d.Fetcher.Observe = func(_ context.Context, e event.Event) { // the other package is in its place, and the cache has been inspected
			if e.State == event.Present && !changed {
				changed = true
				change := func() { write(t, file, strings.Repeat("x", len(read(t, file)))) }
				if strict {
					keepingTimes(t, file, change)
				} else {
					change()
				}
			}
		}
		_, did := m.install(d, locks)
		must.Equal(t, changed, true)
		must.Equal(t, treeOf(t, d.Target.Dir), sound)
		must.Contain(t, did, "archive 1")
	})
}

// again is another run in the same directory.
func (m *machine) again(d *directory) *directory {
	m.tb.Helper()
	next := m.directory()
	next.Target, next.Link = d.Target, d.Link
	return next
}
