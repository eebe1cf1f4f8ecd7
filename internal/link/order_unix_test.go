//go:build unix

package link

import (
	"errors"
	"os"
	"path/filepath"
)

func mode(path string, mode os.FileMode) func(base string) error {
	return func(base string) error { return os.Chmod(filepath.Join(base, path), mode) }
}

// group gives a path to a group, and changes its mode.
func group(path string, gid int, mode os.FileMode) func(base string) error {
	return func(base string) error {
		at := filepath.Join(base, path)
		return errors.Join(os.Chown(at, -1, gid), os.Chmod(at, mode))
	}
}

// places are further states of a cache: by modes, groups, owners and symlinks.
var places = map[string]placeOfCache{
	"a sticky cache for all":                {mode("cache", 0o777|os.ModeSticky), false},
	"a cache in a directory for all":        {mode("", 0o777), false},
	"a cache in a sticky directory for all": {mode("", 0o777|os.ModeSticky), true},
	"a directory in the cache for all":      {mode("cache/example.com", 0o777), false},
	"a file for all":                        {mode("cache/"+provider, 0o757), false},
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
	"a cache for the group of user's name":  {group("cache", 0, 0o775), true},
	"a cache for another group":             {group("cache", 1, 0o775), false}, // daemon's
	"a cache for a group without a name":    {group("cache", somebodyElse, 0o775), false},
	"a file for another group":              {group("cache/"+provider, somebodyElse, 0o775), false},
	"a cache that another group only reads": {group("cache", somebodyElse, 0o755), true},
	"another user's cache": {func(base string) error {
		return os.Chown(filepath.Join(base, "cache"), somebodyElse, -1)
	}, false},
	"another user's link": {func(base string) error {
		return errors.Join(os.Rename(filepath.Join(base, "cache"), filepath.Join(base, "real")), os.Symlink("real", filepath.Join(base, "cache")),
			os.Lchown(filepath.Join(base, "cache"), somebodyElse, -1))
	}, false},
}
