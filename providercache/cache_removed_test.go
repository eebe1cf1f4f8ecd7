package providercache_test

import (
	"os"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/providercache/link"
)

// Directories come and go. To remove one whose files are hard links changes the
// status of the files that are left, just as a change of their content might:
// they are hashed, once for all directories. Symbolic links have no part in it.
func TestReceipt_IsRenewedOnceAfterATargetIsRemoved(t *testing.T) {
	t.Parallel()
	needsReceipts(t)
	for _, c := range []struct {
		link  link.Mode
		reads int
	}{{link.Hardlink, 2}, {link.Symlink, 0}, {link.Copy, 0}} {
		t.Run(c.link.String(), func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			dirs := make([]*directory, 4)
			for i := range dirs {
				dirs[i] = m.directory(t)
				dirs[i].Link = c.link
			}
			locks, _ := m.install(t, dirs[0], nil)
			for _, d := range dirs[1:3] {
				m.install(t, d, locks)
				if !slices.Equal(d.modes, []link.Mode{c.link, c.link}) {
					t.Skipf("there are %v and no others here", d.modes)
				}
			}
			must(t, os.RemoveAll(dirs[0].Target.Dir))
			age()
			read := 0
			for i, d := range dirs[1:] {
				if _, asked := m.install(t, d, locks); len(asked) > 0 {
					t.Errorf("%d: requests %v", i, asked)
				}
				read += len(d.read)
				t.Logf("%d: %q", i, d.read)
			}
			if read != c.reads {
				t.Errorf("%d packages were read, want %d", read, c.reads)
			}
		})
	}
}
