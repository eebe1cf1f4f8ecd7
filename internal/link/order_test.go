package link

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

// provider is the path of a package's program in a cache.
const provider = "example.com/acme/widget/1.0.0/linux_amd64/" + cachetest.WidgetFile

// placeOfCache changes a cache's directory, and says whether symlinks to it are allowed then.
type placeOfCache struct {
	change func(base string) error
	safe   bool
}

func opened(path ...string) func(base string) error {
	return func(base string) error { return cachetest.OpenToAll(filepath.Join(base, filepath.Join(path...))) }
}

// A package that is verified now must not be another program when the symlink is followed.
func TestOrder_MakesNoSymlinkToWhatOthersCanChange(t *testing.T) {
	cases := map[string]placeOfCache{
		"a cache of the user's own":    {func(string) error { return nil }, true},
		"a cache that isn't there yet": {func(base string) error { return os.RemoveAll(filepath.Join(base, "cache")) }, true},
		"a cache for all":              {opened("cache"), false},
		"a package for all":            {opened("cache", filepath.Dir(provider)), false},
		"a directory for all beside it": {func(base string) error {
			return errors.Join(os.Mkdir(filepath.Join(base, "all"), 0o700), opened("all")(base))
		}, true},
	}
	maps.Copy(cases, places)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			cache, file := filepath.Join(base, "cache"), filepath.Join(base, "cache", provider)
			must.Succeed(t, os.MkdirAll(filepath.Dir(file), 0o755))
			cachetest.WriteTo(t, file, "the provider")
			if err := c.change(base); errors.Is(err, os.ErrPermission) && os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			} else if err != nil {
				t.Fatal(err)
			}
			modes, reason := Order(Auto, cache, true, filepath.Dir(file))
			want := []Mode{Symlink, Copy}
			if !c.safe {
				want = []Mode{Clone, Hardlink, Copy}
			}
			if !slices.Equal(modes, want) || errors.Is(reason, ErrChangedByOthers) == c.safe {
				t.Errorf("got %v, %v", modes, reason)
			}
			if modes, reason := Order(Symlink, cache, true, filepath.Dir(file)); modes[0] != Symlink || reason != nil {
				t.Errorf("asked for a symlink: got %v, %v", modes, reason)
			}
		})
	}
}
