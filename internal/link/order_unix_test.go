//go:build unix

package link

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

// A package that is verified now must not be another program when the link to it is followed.
func TestOrder_MakesNoSymlinkToWhatOthersCanChange(t *testing.T) {
	t.Parallel()
	const provider = "example.com/acme/widget/1.0.0/linux_amd64/" + cachetest.WidgetFile
	group := func(path string, gid int, mode os.FileMode) error {
		return errors.Join(os.Chown(path, -1, gid), os.Chmod(path, mode))
	}
	for name, c := range map[string]struct {
		change func(base string) error
		safe   bool
	}{
		"a cache of the user's own": {func(string) error { return nil }, true},
		"a cache for all":           {func(base string) error { return os.Chmod(filepath.Join(base, "cache"), 0o777) }, false},
		"a sticky cache for all": {func(base string) error {
			return os.Chmod(filepath.Join(base, "cache"), 0o777|os.ModeSticky)
		}, false},
		"a cache in a directory for all":        {func(base string) error { return os.Chmod(base, 0o777) }, false},
		"a cache in a sticky directory for all": {func(base string) error { return os.Chmod(base, 0o777|os.ModeSticky) }, true},
		"a directory in the cache for all":      {func(base string) error { return os.Chmod(filepath.Join(base, "cache/example.com"), 0o777) }, false},
		"a package for all": {func(base string) error {
			return os.Chmod(filepath.Join(base, "cache", filepath.Dir(provider)), 0o777)
		}, false},
		"a file for all": {func(base string) error { return os.Chmod(filepath.Join(base, "cache", provider), 0o757) }, false},
		"a link in a package": {func(base string) error {
			return os.Symlink("/bin/sh", filepath.Join(base, "cache", filepath.Dir(provider), "more"))
		}, false},
		"a cache behind a link": {func(base string) error {
			return errors.Join(os.Rename(filepath.Join(base, "cache"), filepath.Join(base, "real")), os.Symlink("real", filepath.Join(base, "cache")))
		}, true},
		"a cache behind a link, in a directory for all": {func(base string) error {
			return errors.Join(os.Mkdir(filepath.Join(base, "all"), 0o777), os.Chmod(filepath.Join(base, "all"), 0o777),
				os.Rename(filepath.Join(base, "cache"), filepath.Join(base, "all", "real")), os.Symlink("all/real", filepath.Join(base, "cache")))
		}, false},
		"a cache that isn't there yet":          {func(base string) error { return os.RemoveAll(filepath.Join(base, "cache")) }, true},
		"a cache for the group of user's name":  {func(base string) error { return group(filepath.Join(base, "cache"), 0, 0o775) }, true},
		"a cache for another group":             {func(base string) error { return group(filepath.Join(base, "cache"), 1, 0o775) }, false}, // daemon's
		"a cache for a group without a name":    {func(base string) error { return group(filepath.Join(base, "cache"), somebodyElse, 0o775) }, false},
		"a file for another group":              {func(base string) error { return group(filepath.Join(base, "cache", provider), somebodyElse, 0o775) }, false},
		"a cache that another group only reads": {func(base string) error { return group(filepath.Join(base, "cache"), somebodyElse, 0o755) }, true},
		"another user's cache": {func(base string) error {
			return os.Chown(filepath.Join(base, "cache"), somebodyElse, -1)
		}, false},
		"another user's link": {func(base string) error {
			return errors.Join(os.Rename(filepath.Join(base, "cache"), filepath.Join(base, "real")), os.Symlink("real", filepath.Join(base, "cache")),
				os.Lchown(filepath.Join(base, "cache"), somebodyElse, -1))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
