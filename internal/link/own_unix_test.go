//go:build unix

package link

import (
	"os"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

const somebodyElse = 12345

// give gives a path to another user, for which the test runs as root.
func give(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	must.Succeed(t, os.Lchown(path, somebodyElse, somebodyElse))
}

// openings are further ways in which another user can change a file: by groups and owners.
var openings = map[string]func(t *testing.T, path string){
	"for the group": func(t *testing.T, path string) { must.Succeed(t, os.Chmod(path, 0o775)) },
	"another file": func(t *testing.T, path string) {
		must.Succeed(t, os.Remove(path))
		cachetest.WriteTo(t, path, "the provider")
		give(t, path)
	},
}
