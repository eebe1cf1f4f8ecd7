package sources

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// cacheDirVariable says where the shared cache is, if the CLI configuration
// doesn't.
const cacheDirVariable = "TFDEPS_CACHE_DIR"

// cacheLayout is where the cache is below a directory for caches of tfdeps. It
// has a number, so that a version with another layout can use the same directory.
const cacheLayout = "providers/v1"

// cachePath is where the shared cache is: where the user names it, as for
// Terraform, else in a directory of tfdeps. "" is nowhere.
func cachePath(m *cli.Meta, config *cliconfig.Config) (dir string, named bool) {
	base := cmp.Or(m.Env.Get(cacheDirVariable), m.CacheDir)
	switch {
	case config.PluginCacheDir != "":
		return config.PluginCacheDir, true
	case base == "":
		return "", false
	default:
		return filepath.Join(base, filepath.FromSlash(cacheLayout)), false
	}
}

// OpenCache returns the cache that working directories share; nil if there is
// none that can be used, of which the log tells.
func OpenCache(m *cli.Meta, config *cliconfig.Config) *store.Store {
	dir, named := cachePath(m, config)
	cache, err := store.OpenCache(dir, named)
	if err != nil {
		if m.Log != nil {
			m.Log.Debug("no shared cache is used", "directory", dir, "reason", err)
		}
		return nil
	}
	return cache
}

// FindCache is OpenCache for commands that are about the cache: without one, they
// fail. A given directory, of -dir, has the cache of tfdeps below it.
func FindCache(m *cli.Meta, config *cliconfig.Config, given string) (*store.Store, problem.List) {
	dir, named := cachePath(m, config)
	if given != "" {
		dir, named = filepath.Join(given, filepath.FromSlash(cacheLayout)), false
	}
	cache, err := store.OpenCache(dir, named)
	if err != nil {
		return nil, problem.List{problem.Error("There is no shared cache", fmt.Sprintf(
			"The directory %q can't be used: %v.\n\nAnother one can be named with the variable %s.", cmp.Or(given, dir), err, cacheDirVariable))}
	}
	return cache, nil
}
