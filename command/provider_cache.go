package command

import (
	"cmp"
	"flag"
	"fmt"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/providercache"
)

// cacheOptions is what arguments and variables say about the shared cache. Its
// place has no option: it isn't the business of a single run.
type cacheOptions struct {
	off    bool   // -no-shared-cache
	link   string // of -link, as it was given
	linkBy string // who set it
	verify bool   // -verify
}

func (o *cacheOptions) define(flags *flag.FlagSet) {
	flags.BoolVar(&o.off, "no-shared-cache", false, "")
	flags.StringVar(&o.link, "link", "", "")
	flags.BoolVar(&o.verify, "verify", false, "")
}

// sharing is how packages are shared between working directories, and what
// is remembered of them.
type sharing struct {
	cache    *providercache.Store // nil: they aren't
	link     providercache.LinkMode
	verify   bool
	stateDir string
}

// providerSharing finds out how: by the directory that the user names for it, as for
// the real tool, else by one of our own. There may be none that is usable; that
// is told to whoever wants to know every detail.
func (m *Meta) providerSharing(o cacheOptions, cli *cliconfig.Config) (sharing, view.Problems) {
	s := sharing{verify: o.verify, stateDir: m.StateDir}
	var err error
	if s.link, err = providercache.ParseLinkMode(cmp.Or(o.link, "auto")); err != nil {
		return s, view.Problems{view.NewError("Invalid way of linking", fmt.Sprintf("The value of %s can't be used: %v.", o.linkBy, err))}
	}
	if o.off {
		return s, nil
	}
	dir, named := m.providerCacheDir(), false
	if cli.PluginCacheDir != "" {
		dir, named = cli.PluginCacheDir, true
	}
	if s.cache, err = providercache.OpenCache(dir, named); err != nil && m.Log != nil {
		m.Log.Debug("no shared cache is used", "directory", dir, "reason", err)
	}
	return s, nil
}

// providerCacheLayout is where the cache is below a directory for caches of ours.
// It has a number, so that a version of this program that has another layout can
// use the same directory.
const providerCacheLayout = "providers/v1"

// providerCacheDir is the cache of our own for packages of providers; "" if
// there is no place for it.
func (m *Meta) providerCacheDir() string {
	base := cmp.Or(m.Env.Get(cacheDirVariable), m.CacheDir)
	if base == "" {
		return ""
	}
	return filepath.Join(base, filepath.FromSlash(providerCacheLayout))
}
