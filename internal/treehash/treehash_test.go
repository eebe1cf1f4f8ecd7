package treehash

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// writeFiles makes a package with files in several directories, whose sorted
// order is not the order of a walk: "a.b" comes before "a/b".
func writeFiles(t *testing.T) (dir string, digests []File) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range map[string]string{
		"terraform-provider-x_v1.0.0": strings.Repeat("executable", 100_000),
		"LICENSE":                     "free",
		"empty":                       "",
		"a/b/c.txt":                   "deep",
		"a.b":                         "beside a",
		".hidden":                     "counts",
		"ünïcode":                     "name",
	} {
		must.Write(t, filepath.Join(dir, name), content)
		digests = append(digests, File{Name: name, SHA256: sha256.Sum256([]byte(content))})
	}
	must.Succeed(t, os.Mkdir(filepath.Join(dir, "no files"), 0o755))
	return dir, digests
}

// oracle is Go's own directory hash.
func oracle(t *testing.T, dir string) getproviders.Hash {
	t.Helper()
	return getproviders.Hash(must.Get(dirhash.HashDir(dir, "", dirhash.Hash1))(t))
}

func TestH1_AndHashDirAgreeWithDirhash(t *testing.T) {
	dir, digests := writeFiles(t)
	want := oracle(t, dir)
	for range 2 {
		must.Equal(t, must.Get(H1(digests))(t), want)
		slices.Reverse(digests) // the order doesn't matter
	}
	must.Equal(t, must.Get(Dir(t.Context(), dir))(t), want)
	t.Run("links to the package and a file, but to no directory in it", func(t *testing.T) {
		elsewhere, file := t.TempDir(), filepath.Join(dir, "LICENSE")
		link, outside := filepath.Join(elsewhere, "linux_amd64"), filepath.Join(elsewhere, "file")
		if err := must.Symlink(dir, link); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
		must.Succeed(t, errors.Join(os.Rename(file, outside), os.Symlink(outside, file)))
		must.Equal(t, must.Get(Dir(t.Context(), link))(t), want)
		must.Succeed(t, os.Symlink("a", filepath.Join(dir, "link")))
		err := must.ErrorOf(Dir(t.Context(), dir))
		for _, part := range []string{dir, "link", "not a file"} {
			must.Contain(t, err, part)
		}
	})
}

func TestHash_DirOfNoFiles(t *testing.T) {
	dir := t.TempDir()
	want := oracle(t, dir)
	must.Equal(t, must.Get(Dir(t.Context(), dir))(t), want)
	must.Equal(t, must.Get(H1(nil))(t), want)
}

func TestH1_LeavesItsArgumentAlone(t *testing.T) {
	digests := []File{{Name: "b"}, {Name: "a"}}
	must.Get(H1(digests))(t)
	if digests[0].Name != "b" {
		t.Error("sorted in place")
	}
}

func TestH1_RefusesNewlinesInNames(t *testing.T) {
	must.Refuse(H1([]File{{Name: "a\nb"}}))(t)
}

func TestHash_OfWhatIsNotThere(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	must.Fail(t, must.ErrorOf(Dir(t.Context(), missing)), os.ErrNotExist)
	must.Fail(t, must.ErrorOf(Digest(t.Context(), missing, "x", nil, nil)), os.ErrNotExist)
}

func TestHash_DirStopsWhenTheContextEnds(t *testing.T) {
	dir, _ := writeFiles(t)
	interrupt := errors.New("interrupt")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interrupt)
	must.Fail(t, must.ErrorOf(Dir(ctx, dir)), interrupt)
}
