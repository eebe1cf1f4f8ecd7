package providercache_test

import (
	"os"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/providercache"
)

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
