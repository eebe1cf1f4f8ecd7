//go:build unix

package link

import (
	"errors"
	"os"
	"path/filepath"
)

// group gives a path to a group, and changes its mode.
func group(path string, gid int, mode os.FileMode) error {
	return errors.Join(os.Chown(path, -1, gid), os.Chmod(path, mode))
}

// places are further states of a cache: what modes, groups, owners and links do.
var places = map[string]placeOfCache{
	"a sticky cache for all": {func(base string) error {
		return os.Chmod(filepath.Join(base, "cache"), 0o777|os.ModeSticky)
	}, false},
	"a cache in a directory for all":        {func(base string) error { return os.Chmod(base, 0o777) }, false},
	"a cache in a sticky directory for all": {func(base string) error { return os.Chmod(base, 0o777|os.ModeSticky) }, true},
	"a directory in the cache for all":      {func(base string) error { return os.Chmod(filepath.Join(base, "cache/example.com"), 0o777) }, false},
	"a file for all":                        {func(base string) error { return os.Chmod(filepath.Join(base, "cache", provider), 0o757) }, false},
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
}
