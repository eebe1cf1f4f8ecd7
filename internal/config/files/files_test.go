package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/config/files"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestSystem_FollowsSymlinksAsTheProcessDoes: filepath.EvalSymlinks is the oracle, as long as a
// path stays in the FS.
func TestSystem_FollowsSymlinksAsTheProcessDoes(t *testing.T) {
	root := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	must.Succeed(t, os.MkdirAll(filepath.Join(root, "in/a/b"), 0o700))
	for name, target := range map[string]string{
		"in/plain": "a", "in/deep": "a/b", "in/up": "a/b/../../a", "in/through": "deep/..", "in/a/b/back": "../../plain/b",
		"in/self": "self", "in/gone": "nothing", "in/out": "../..", "in/far": "a/../../../x", "in/absolute": filepath.Join(root, "in/a"),
	} {
		if err := must.Symlink(target, filepath.Join(root, filepath.FromSlash(name))); err != nil {
			t.Skip(err)
		}
	}
	held := files.System{FS: os.DirFS(filepath.Join(root, "in"))}
	for _, name := range []string{".", "a", "a/b", "plain", "plain/b", "deep", "up/b", "through", "through/b/back", "a/b/back/back", "nothing", "plain/nothing"} {
		want, wantErr := filepath.EvalSymlinks(filepath.Join(root, "in", filepath.FromSlash(name)))
		if wantErr == nil {
			want, wantErr = filepath.Rel(filepath.Join(root, "in"), want)
		}
		got, err := held.EvalSymlinks(name)
		if got != want || errors.Is(err, fs.ErrNotExist) != errors.Is(wantErr, fs.ErrNotExist) {
			t.Errorf("%s leads to %q (%v), want %q (%v)", name, got, err, want, wantErr)
		}
	}
	for _, name := range []string{"self", "out", "out/in/a", "far", "absolute", "absolute/b", "..", "/"} {
		must.Fail(t, must.ErrorOf(held.EvalSymlinks(name)), fs.ErrInvalid, name)
	}
	must.Fail(t, must.ErrorOf(held.EvalSymlinks("gone")), fs.ErrNotExist)
}
