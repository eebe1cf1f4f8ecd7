package link

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/must"
)

// written is a piece of a file that isn't a hole.
type written struct{ at, length int64 }

// fileOf makes a file of a size with random bytes in some pieces.
func fileOf(t *testing.T, path string, size int64, pieces ...written) {
	t.Helper()
	file, err := os.Create(path)
	must.Succeed(t, err)
	random := rand.NewChaCha8([32]byte{1})
	for _, piece := range pieces {
		content := make([]byte, piece.length)
		_, _ = random.Read(content)
		_, err := file.WriteAt(content, piece.at)
		must.Succeed(t, err)
	}
	must.Succeed(t, errors.Join(file.Truncate(size), file.Close()))
}

// allocated is how many bytes a file takes on the disk.
func allocated(t *testing.T, path string) int64 {
	t.Helper()
	var stat unix.Stat_t
	must.Succeed(t, unix.Stat(path, &stat))
	return stat.Blocks * 512
}

func TestCopyTree_CopiesHolesAsHoles(t *testing.T) {
	t.Parallel()
	const mega = 1 << 20
	for name, c := range map[string]struct {
		size   int64
		pieces []written
	}{
		"empty":                   {0, nil},
		"one byte":                {1, []written{{0, 1}}},
		"a hole and nothing else": {8 * mega, nil},
		"a hole at the beginning": {8 * mega, []written{{6 * mega, 2 * mega}}},
		"a hole at the end":       {8*mega + 17, []written{{0, 5000}}},
		"holes between":           {32 * mega, []written{{mega, 4096}, {9 * mega, 3}, {31 * mega, mega}}},
		"more than a piece":       {copyPiece + mega + 1, []written{{0, copyPiece + mega + 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := t.TempDir(), filepath.Join(t.TempDir(), "to")
			file := filepath.Join(from, cachetest.WidgetFile)
			fileOf(t, file, c.size, c.pieces...)
			must.Succeed(t, copyTree(t.Context(), from, to))
			copied := filepath.Join(to, cachetest.WidgetFile)
			if !bytes.Equal([]byte(cachetest.ContentOf(t, copied)), []byte(cachetest.ContentOf(t, file))) {
				t.Fatal("the copy has another content")
			}
			if was, is := allocated(t, file), allocated(t, copied); is > was+c.size/16+1<<16 {
				t.Errorf("the copy takes %d bytes on the disk, the original %d", is, was)
			}
		})
	}
}

// If the kernel's copy fails in the middle, the copy by a buffer begins again.
func TestCopyByBuffer_ReplacesWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	fileOf(t, from, 200_000, written{0, 200_000})
	fileOf(t, to, 300_000, written{1000, 299_000})
	source, err := os.Open(from)
	must.Succeed(t, err)
	defer source.Close()
	_, err = source.Seek(77, 0)
	must.Succeed(t, err)
	target, err := os.OpenFile(to, os.O_RDWR, 0)
	must.Succeed(t, err)
	defer target.Close()
	must.Succeed(t, copyByBuffer(t.Context(), target, source, make([]byte, chunks.Size)))
	if cachetest.ContentOf(t, to) != cachetest.ContentOf(t, from) {
		t.Error("the copy has another content")
	}
}

func TestMayClone_IsFalseOnlyWhereNoFileCanBeCloned(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	fileOf(t, filepath.Join(from, "file"), 1<<16, written{0, 1 << 16})
	used, _, err := Tree(t.Context(), from, filepath.Join(to, "package"), []Mode{Clone})
	if may := MayClone(to); !may && err == nil {
		t.Errorf("%s was used where it can't be", used)
	}
	if !MayClone(filepath.Join(to, "missing")) {
		t.Error("where nothing is known, it isn't even tried")
	}
}
