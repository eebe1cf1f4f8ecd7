package providercache_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/providercache"
)

// The mode of -link= is used where it is possible. Elsewhere packages are copied, and the reason
// is reported.
func TestLink_FallsBackToACopy(t *testing.T) {
	t.Parallel()
	elsewhere, err := os.MkdirTemp("/dev/shm", "tfdeps-test-")
	if err != nil {
		t.Skipf("no other file system is known here: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(elsewhere) })
	m := newMachine(t)
	if os.Link(os.Args[0], filepath.Join(elsewhere, "program")) == nil {
		t.Skip("it is the same file system")
	}
	locks, _ := m.first(t)
	for mode, want := range map[providercache.LinkMode]providercache.LinkMode{
		providercache.LinkSymlink: providercache.LinkSymlink, providercache.LinkClone: providercache.LinkCopy,
		providercache.LinkHardlink: providercache.LinkCopy, providercache.LinkCopy: providercache.LinkCopy, providercache.LinkAuto: providercache.LinkCopy,
	} {
		d := m.directory(t)
		d.Link, d.Target = mode, &providercache.Store{Dir: filepath.Join(elsewhere, mode.String())}
		_, report := install(t, d.Installer, both, locks)
		for _, o := range report.Outcomes {
			told := o.LinkReason != nil && (mode == providercache.LinkAuto || strings.HasPrefix(o.LinkReason.Error(), mode.String()+": "))
			if o.Link != want || told != (want != mode) {
				t.Errorf("%v: it is a %v, because of %v", mode, o.Link, o.LinkReason)
			}
		}
	}
}
