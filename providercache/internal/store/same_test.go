package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

func TestStore_IsSameAsByWhateverName(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		succeed(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	t.Chdir(dir)
	linked := must.Symlink("a", "link") == nil
	for _, tt := range []struct {
		one, other string
		same       bool
	}{
		{"a", filepath.Join(dir, "a"), true}, {"link", "a", true}, {"a", "b", false},
		{"a/none", "link/none", true}, {"a/none", "b/none", false}, {"a/none", "a", false}, {"none/../a/x/y", "link/x/y", true},
	} {
		t.Run(tt.one+" and "+filepath.Base(tt.other), func(t *testing.T) {
			if !linked && strings.Contains(tt.one+tt.other, "link") {
				t.Skip("no symbolic links here")
			}
			one, other := &store.Store{Dir: filepath.FromSlash(tt.one)}, &store.Store{Dir: filepath.FromSlash(tt.other)}
			if one.IsSameAs(other) != tt.same || other.IsSameAs(one) != tt.same {
				t.Errorf("want %t", tt.same)
			}
		})
	}
}
