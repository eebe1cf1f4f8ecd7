package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/tfdeps/tfdeps/internal/config/files"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestSystem_FollowsSymlinksAsTheProcessDoes: filepath.EvalSymlinks is the oracle if symlinks can be made and a path
// stays in the FS.
func TestSystem_FollowsSymlinksAsTheProcessDoes(t *testing.T) {
	tree := fstest.MapFS{"a/b": {Mode: fs.ModeDir | 0o700}}
	for name, target := range map[string]string{
		"plain": "a", "deep": "a/b", "up": "a/b/../../a", "through": "deep/..", "a/b/back": "../../plain/b",
		"self": "self", "gone": "nothing", "out": "../..", "far": "a/../../../x", "absolute": "/a",
	} {
		tree[name] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte(target)}
	}
	held, root := files.System{FS: tree}, must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	_ = os.CopyFS(root, tree) // on Windows only with a privilege
	linked := must.ErrorOf(os.Readlink(filepath.Join(root, "plain"))) == nil
	for name, want := range map[string]string{
		".": ".", "a": "a", "a/b": "a/b", "plain": "a", "plain/b": "a/b", "deep": "a/b", "up/b": "a/b", "through": "a",
		"through/b/back": "a/b", "a/b/back/back": "a/b", "nothing": "", "plain/nothing": "", "gone": "",
	} {
		want = filepath.FromSlash(want)
		got, err := held.EvalSymlinks(name)
		must.Equal(t, got, want, name)
		must.Equal(t, errors.Is(err, fs.ErrNotExist), want == "", name, err)
		if linked && want != "" {
			must.Equal(t, must.Get(filepath.EvalSymlinks(filepath.Join(root, name)))(t), filepath.Join(root, want), name)
		}
	}
	for _, name := range []string{"self", "out", "out/in/a", "far", "absolute", "absolute/b", "..", "/"} {
		must.Fail(t, must.ErrorOf(held.EvalSymlinks(name)), fs.ErrInvalid, name)
	}
}
