package link

import (
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
)

func TestMayClone_IsFalseOnlyWhereNoFileCanBeCloned(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	cachetest.WriteTo(t, filepath.Join(from, "file"), "x")
	used, _, err := Tree(t.Context(), from, filepath.Join(to, "package"), []Mode{Clone})
	if may := MayClone(to); !may && err == nil {
		t.Errorf("%s was used where it can't be", used)
	}
	if !MayClone(filepath.Join(to, "missing")) {
		t.Error("where nothing is known, it isn't even tried")
	}
}
