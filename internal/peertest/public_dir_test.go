//go:build unix

package peertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// TestPublicDir_IsShortAndOpenToAll has places for temporary files that a test can't make sockets in, or that other users
// can't enter.
func TestPublicDir_IsShortAndOpenToAll(t *testing.T) {
	must.Equal(t, isPublic("/tmp"), true)
	private := must.Get(os.MkdirTemp("/tmp", "t"))(t) // 0700
	defer os.RemoveAll(private)
	writable := must.Get(os.MkdirTemp("/tmp", "t"))(t)
	defer os.RemoveAll(writable)
	must.Succeed(t, os.Chmod(writable, 0o777))
	below := filepath.Join(private, "t")
	must.Succeed(t, os.Mkdir(below, 0o755))
	open := must.Get(os.MkdirTemp("/tmp", "t"))(t)
	defer os.RemoveAll(open)
	must.Succeed(t, os.Chmod(open, 0o755))
	long := filepath.Join(open, strings.Repeat("x", 60))
	must.Succeed(t, os.Mkdir(long, 0o755))

	for name, c := range map[string]struct {
		temporary string
		is        string // the directory that the new one is in
	}{
		"good enough":                  {open, open},
		"for one user alone":           {private, "/tmp"},
		"below one for one user alone": {below, "/tmp"},
		"for all users to write to":    {writable, "/tmp"},
		"long":                         {long, "/tmp"},
	} {
		made := ""
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", c.temporary)
			made = PublicDir(t)
			must.Equal(t, filepath.Dir(made), c.is)
			must.Equal(t, must.Get(os.Stat(made))(t).Mode().Perm(), os.FileMode(0o755))
		})
		must.Refuse(os.Stat(made))(t, name, "it is there after the test")
	}
}
