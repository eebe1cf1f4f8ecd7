package link

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestMayClone_IsFalseOnlyWhereNoFileCanBeCloned(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	cachetest.WriteTo(t, filepath.Join(from, "file"), "x")
	used, _, err := Tree(t.Context(), from, filepath.Join(to, "package"), []Mode{Clone})
	if may := MayClone(to); !may && err == nil {
		t.Errorf("%s was used where it can't be", used)
	}
	// On an unknown file system clones are tried, if the system supports them at all.
	must.Equal(t, MayClone(filepath.Join(to, "missing")), runtime.GOOS == "linux" || runtime.GOOS == "darwin")
}
