package sources

import (
	"cmp"
	"path/filepath"
	"runtime"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/fetch"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// Options decide where providers come from.
type Options struct {
	Net        Network
	Config     *cliconfig.Config
	Product    getproviders.Product
	PluginDirs []string // of -plugin-dir; if there are any, nothing else counts
	Fallback   getproviders.Fallback
	Mirrors    *Mirrors // of -mirror, which are asked in place of what the CLI configuration says; nil: there are none

	MirrorsFirst bool // they are asked before it

	Vendored string // a directory that isn't a source, because it is filled; "": none

	// Cached tells which packages of sources that may not be asked are on this
	// machine. It is required where there is no network.
	Cached func(getproviders.Provider) []getproviders.CachedPackage
}

// All returns the sources of providers: those that the user names, else the
// default ones.
func (o Options) All(m *cli.Meta) (getproviders.MultiSource, error) {
	return o.Config.Source(m.Context, o.Single(m))
}

// Single is what makes a single source: a registry, or a mirror.
func (o Options) Single(m *cli.Meta) cliconfig.SourceOptions {
	return cliconfig.SourceOptions{
		Product: o.Product, Network: o.Net.Network, User: user(m), Signers: o.Net.Signers,
		Dirs: o.PluginDirs, Except: o.Vendored, Fallback: o.Fallback, Cached: o.Cached, Mirrors: o.Mirrors.sources(o), MirrorsFirst: o.MirrorsFirst,
		OCIMirror: o.Net.OCIMirror,
	}
}

// Fetcher returns what fetches packages of providers from a source, and tells observe of it.
func (net Network) Fetcher(m *cli.Meta, product getproviders.Product, source getproviders.Source, observe func(event.Event)) *providercache.Fetcher {
	return &providercache.Fetcher{
		Source: source, Client: net.Archives, Product: product, Observe: event.Observer(observe), Now: m.Now, StateDir: m.StateDir,
	}
}

// Modules returns what finds modules of the current directory and fetches those
// that have to be fetched. The Fetcher is to be closed.
func (net Network) Modules(m *cli.Meta, product getproviders.Product) (modules.Resolver, *fetch.Fetcher) {
	store := ownModuleStore(m)
	fetches := net.Hosts.Modules(product, store)
	if m.Activity != nil {
		fetches.Report = m.Activity.Module
	}
	return modules.Resolver{
		Dir:        workdir.ModulesDir(m.Env),
		Product:    product,
		WorkingDir: cli.WorkingDirectory(),
		HomeDir:    m.HomeDir,
		Fetcher:    fetches,
		Registries: net.Registries(product, store),
		Allow:      net.Policy.AllowsModule(),
	}, fetches
}

// Registries returns what asks registries of modules, and remembers their answers as long as it lives; in the
// store, too, if that isn't "".
func (net Network) Registries(product getproviders.Product, store string) *modules.Registries {
	return &modules.Registries{
		Client:      net.Client,
		Discovery:   net.Discovery,
		Credentials: net.Credentials,
		Product:     product,
		Store:       store,
		Offline:     net.OfflineBy != "",
	}
}

// ModuleStore is where packages of modules are kept for other directories; "" if
// there is no place.
func ModuleStore(m *cli.Meta) string {
	if m.CacheDir == "" {
		return ""
	}
	return filepath.Join(m.CacheDir, "modules", "v1")
}

// ownModuleStore is ModuleStore, if no other user than this one and root can write to it: they could
// exchange modules.
func ownModuleStore(m *cli.Meta) string {
	dir := ModuleStore(m)
	if dir == "" || owner.IsOwnDir(dir) {
		return dir
	}
	if m.Log != nil {
		m.Log.Debug("the store of modules isn't used, because other users can write to it", "directory", dir, "writable", owner.Exposed(dir))
	}
	return ""
}

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

// CacheNamedBy says what decides where the shared cache is: a variable, plugin_cache_dir of the CLI
// configuration, or the user's directory for caches.
func CacheNamedBy(m *cli.Meta, config *cliconfig.Config) string {
	switch {
	case m.Env.Get("TF_PLUGIN_CACHE_DIR") != "":
		return "TF_PLUGIN_CACHE_DIR"
	case config.PluginCacheDir != "":
		return "plugin_cache_dir"
	case m.Env.Get(cacheDirVariable) != "":
		return cacheDirVariable
	default:
		return "the user's directory for caches"
	}
}

// IsOwnCache reports whether the shared cache is one that the user hasn't named.
func IsOwnCache(m *cli.Meta, config *cliconfig.Config) bool {
	return config.PluginCacheDir == "" && m.Env.Get(cacheDirVariable) == ""
}

// OpenCache returns the cache that working directories share; nil if there is
// none that can be used. It is a warning if the user named it, else the log tells.
func OpenCache(m *cli.Meta, config *cliconfig.Config) (*providercache.Store, problem.List) {
	dir, named := cachePath(m, config)
	cache, err := providercache.OpenCache(dir, named)
	if err != nil {
		if m.Log != nil {
			m.Log.Debug("no shared cache is used", "directory", dir, "reason", err)
		}
		if named || m.Env.Get(cacheDirVariable) != "" {
			return nil, problem.Warn("cache_failed", "The shared cache isn't used",
				"The directory %q, which %s names, can't be used: %v.\n\n"+
					"Packages are fetched for this directory alone. Correct the directory or its permissions, or name another one.",
				dir, CacheNamedBy(m, config), err)
		}
		return nil, nil
	}
	return cache, nil
}

// CredentialsHelper returns the program of the credentials helper that the CLI configuration names, without
// starting it; "" if it names none. The error is a *hosts.HelperNotFoundError.
func CredentialsHelper(m *cli.Meta, config *cliconfig.Config) (string, error) {
	if config.Helper == nil {
		return "", nil
	}
	return hosts.FindHelper(config.Helper.Name, user(m).HelperDirs(getproviders.CurrentPlatform()))
}

// ConfigFiles returns where the CLI configuration is looked for.
func ConfigFiles(m *cli.Meta, product getproviders.Product) cliconfig.Locations {
	return cliconfig.Find(user(m), product)
}

// NetrcFiles returns where logins for packages are looked for.
func NetrcFiles(m *cli.Meta) []string { return hosts.NetrcFiles(m.Env.Get, m.HomeDir, runtime.GOOS) }

// FindCache is OpenCache for commands that are about the cache: without one, they
// fail. A given directory, of -dir, has the cache of tfdeps below it.
func FindCache(m *cli.Meta, config *cliconfig.Config, given string) (*providercache.Store, problem.List) {
	dir, named := cachePath(m, config)
	if given != "" {
		dir, named = filepath.Join(given, filepath.FromSlash(cacheLayout)), false
	}
	if dir == "" {
		return nil, problem.Fail("cache_failed", "There is no shared cache",
			"This user has no directory for caches, because HOME isn't set.\n\nSet it, or name a directory with the variable %s.", cacheDirVariable)
	}
	cache, err := providercache.OpenCache(dir, named)
	if err != nil {
		return nil, problem.Fail("cache_failed", "There is no shared cache",
			"The directory %q can't be used: %v.\n\nAnother one can be named with the variable %s.", cmp.Or(given, dir), err, cacheDirVariable)
	}
	return cache, nil
}
