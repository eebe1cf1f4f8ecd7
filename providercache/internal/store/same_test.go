package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

func TestStore_IsSameAsByWhateverName(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		must.Succeed(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	if err := must.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	t.Chdir(dir)
	for _, tt := range []struct {
		one, other string
		same       bool
	}{
		{"a", filepath.Join(dir, "a"), true}, {"link", "a", true}, {"a", "b", false},
		{"a/none", "link/none", true}, {"a/none", "b/none", false}, {"a/none", "a", false}, {"none/../a/x/y", "link/x/y", true},
	} {
		one, other := &store.Store{Dir: filepath.FromSlash(tt.one)}, &store.Store{Dir: filepath.FromSlash(tt.other)}
		if one.IsSameAs(other) != tt.same || other.IsSameAs(one) != tt.same {
			t.Errorf("%s and %s: want %t", tt.one, tt.other, tt.same)
		}
	}
}
