package providercache_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// Deleting a directory whose files are hard links moves the ctimes of the files that are left.
// With strict times those are hashed then, once for all directories. Symbolic links and copies
// don't change it.
func TestReceipt_CountsAfterATargetIsRemoved(t *testing.T) {
	needsReceipts(t)
	for _, c := range []struct {
		link   providercache.LinkMode
		strict bool
		reads  int
	}{{providercache.LinkHardlink, false, 0}, {providercache.LinkHardlink, true, 2}, {providercache.LinkSymlink, false, 0}, {providercache.LinkCopy, false, 0}} {
		t.Run(fmt.Sprintf("%v, strict times %t", c.link, c.strict), func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.Strict = c.strict
			dirs := make([]*directory, 4)
			for i := range dirs {
				dirs[i] = m.directory(t)
				dirs[i].Link = c.link
			}
			locks, _ := m.install(t, dirs[0], nil)
			for _, d := range dirs[1:3] {
				m.install(t, d, locks)
				if !slices.Equal(d.modes, []providercache.LinkMode{c.link, c.link}) {
					t.Skipf("there are %v and no others here", d.modes)
				}
			}
			succeed(t, os.RemoveAll(dirs[0].Target.Dir))
			age()
			read := 0
			for i, d := range dirs[1:] {
				if _, asked := m.install(t, d, locks); len(asked) > 0 {
					t.Errorf("%d: requests %v", i, asked)
				}
				read += len(d.read)
				t.Logf("%d: %q", i, d.read)
			}
			must.Equal(t, read, c.reads)
		})
	}
}

// When a run has found moved ctimes, the receipt records the new ones, and counts with strict
// times, too.
func TestReceipt_IsRenewedWhenItsCtimesMoved(t *testing.T) {
	needsReceipts(t)
	m := newMachine(t)
	first, second := m.directory(t), m.directory(t)
	first.Link, second.Link = providercache.LinkHardlink, providercache.LinkHardlink
	locks, _ := m.install(t, first, nil)
	if m.install(t, second, locks); !slices.Equal(second.modes, []providercache.LinkMode{providercache.LinkHardlink, providercache.LinkHardlink}) {
		t.Skipf("there are no hard links here, but %v", second.modes)
	}
	succeed(t, os.RemoveAll(first.Target.Dir))
	age()
	m.install(t, second, locks)
	second.Fetcher.StrictTimes = true
	if m.install(t, second, locks); len(second.read) > 0 {
		t.Errorf("read %q", second.read)
	}
}
