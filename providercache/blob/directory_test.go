package blob_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"go.uber.org/goleak"

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
		if _, err := b.Put(t.Context(), "a/b/c", blob.Bytes([]byte("x")), blob.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Put(t.Context(), "a/b/c", blob.Bytes([]byte("x")), blob.PutOptions{IfAbsent: true}); !errors.Is(err, blob.ErrExists) {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(root, "a", "b", "c")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
	must.Succeed(t, b.Delete(t.Context(), "a/b/c"))
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 || entries[0].Name() != ".tfdeps-lock" {
		t.Errorf("there is %v, %v", entries, err)
	}
}

func TestDirectory_FollowsNoLinkOutOfIt(t *testing.T) {
	t.Parallel()
	outside, root := t.TempDir(), t.TempDir()
	must.Succeed(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600))
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	b := blob.NewDirectory(root)
	if content, _, err := blob.ReadAll(t.Context(), b, "link/secret", 100); err == nil {
		t.Errorf("it read %q", content)
	}
	if _, err := b.Put(t.Context(), "link/new", blob.Bytes([]byte("x")), blob.PutOptions{}); err == nil {
		t.Error("it wrote through the link")
	}
	if err := b.Delete(t.Context(), "link/secret"); err == nil {
		t.Error("it deleted through the link")
	}
	for info := range b.List(t.Context(), "") {
		t.Errorf("it lists %+v", info)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside is %v, %v", entries, err)
	}
}

func TestDirectory_RefusesItsOwnNames(t *testing.T) {
	t.Parallel()
	b := blob.NewDirectory(t.TempDir())
	for _, key := range []string{".tfdeps-lock", "a/.tfdeps-1/b"} {
		if _, err := b.Put(t.Context(), key, blob.Bytes(nil), blob.PutOptions{}); !errors.Is(err, blob.ErrKey) {
			t.Errorf("%s: %v", key, err)
		}
	}
}
