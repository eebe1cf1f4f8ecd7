package blob_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/blob/blobtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDirectory_IsABucket(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Bucket { return blob.NewDirectory(filepath.Join(t.TempDir(), "new")) })
}

func TestDirectory_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	b := blob.NewDirectory(root)
	for range 2 {
		must.Get(b.Put(t.Context(), "a/b/c", blob.Bytes([]byte("x")), blob.PutOptions{}))(t)
	}
	must.Fail(t, must.ErrorOf(b.Put(t.Context(), "a/b/c", blob.Bytes([]byte("x")), blob.PutOptions{IfAbsent: true})), blob.ErrExists)
	if info, err := os.Stat(filepath.Join(root, "a", "b", "c")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
	must.Succeed(t, b.Delete(t.Context(), "a/b/c"))
	entries := must.Get(os.ReadDir(root))(t)
	must.Len(t, entries, 1)
	must.Equal(t, entries[0].Name(), ".tfdeps-lock")
}

func TestDirectory_RefusesItsOwnNamesAndLinks(t *testing.T) {
	t.Parallel()
	b := blob.NewDirectory(t.TempDir())
	for _, key := range []string{".tfdeps-lock", "a/.tfdeps-1/b"} {
		must.Fail(t, must.ErrorOf(b.Put(t.Context(), key, blob.Bytes(nil), blob.PutOptions{})), blob.ErrKey, key)
	}
	t.Run("a link out of it", func(t *testing.T) {
		outside := must.WriteAll(t, t.TempDir(), map[string]string{"secret": "secret"})
		root := t.TempDir()
		cachetest.LinkOrSkip(t, outside, filepath.Join(root, "link"))
		b := blob.NewDirectory(root)
		must.Refuse(blob.ReadAll(t.Context(), b, "link/secret", 100))(t)
		must.Refuse(b.Put(t.Context(), "link/new", blob.Bytes([]byte("x")), blob.PutOptions{}))(t, "it wrote through the link")
		must.Refuse(b.Delete(t.Context(), "link/secret"))(t, "it deleted through the link")
		for info := range b.List(t.Context(), "") {
			t.Errorf("it lists %+v", info)
		}
		must.Len(t, must.Get(os.ReadDir(outside))(t), 1)
	})
}

// Sub renames the errors of the bucket below it.
func TestSub_NamesItselfAlone(t *testing.T) {
	t.Parallel()
	below := struct{ blob.Bucket }{blob.NewDirectory(t.TempDir())} // as another kind of bucket
	_, err := blob.Sub(below, "a").Stat(t.Context(), "none")
	must.Fail(t, err, blob.ErrNotFound)
	must.Equal(t, strings.Count(err.Error(), "none"), 1, err)
}
