//go:build unix

package link

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

const somebodyElse = 12345

// chmod changes the mode of a path, and give its owner, for which the test runs as root.
func chmod(mode os.FileMode) func(*testing.T, string) {
	return func(t *testing.T, path string) { must.Succeed(t, os.Chmod(path, mode)) }
}

func give(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	must.Succeed(t, os.Lchown(path, somebodyElse, somebodyElse))
}

// Other users could change a file that they can write to after it was verified, and could replace
// it between the check and the link.
func TestHardLink_RefusesFilesThatOthersCanWriteTo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(t *testing.T, path string)
		before bool // it is looked at
	}{
		"for all, as it was":       {chmod(0o757), false},
		"for the group, as it was": {chmod(0o775), false},
		"for all, meanwhile":       {chmod(0o757), true},
		"another file, meanwhile": {func(t *testing.T, path string) {
			must.Succeed(t, os.Remove(path))
			cachetest.WriteTo(t, path, "the provider")
			give(t, path)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), cachetest.WidgetFile)
			cachetest.WriteTo(t, path, "the provider")
			if !c.before {
				c.change(t, path)
			}
			file, err := originalOf(path)
			must.Succeed(t, err)
			if c.before {
				c.change(t, path)
			}
			must.Fail(t, hardLink(file, path+".link"), ErrNotOwnFile)
		})
	}
}
