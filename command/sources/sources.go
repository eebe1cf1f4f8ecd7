package sources

import (
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/configs/modules/fetch"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Options decide where providers come from.
type Options struct {
	Net        Network
	Config     *cliconfig.Config
	Product    getproviders.Product
	PluginDirs []string // of -plugin-dir; if there are any, nothing else counts
	Fallback   getproviders.Fallback

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
		Dirs: o.PluginDirs, Except: o.Vendored, Fallback: o.Fallback, Cached: o.Cached,
	}
}

// Modules returns what finds modules of the current directory and fetches those
// that have to be fetched. The Fetcher is to be closed.
func (net Network) Modules(m *cli.Meta, product getproviders.Product) (modules.Resolver, *fetch.Fetcher) {
	offline, store := net.OfflineBy != "", ModuleStore(m)
	fetcher := &fetch.Fetcher{Client: net.Archives, Store: store, Environ: m.Env, Offline: offline}
	return modules.Resolver{
		Dir:        workdir.ModulesDir(m.Env),
		Product:    product,
		WorkingDir: cli.WorkingDirectory(),
		HomeDir:    m.HomeDir,
		Fetcher:    fetcher,
		Registries: &modules.Registries{
			Client:      net.Client,
			Discovery:   net.Discovery,
			Credentials: net.Credentials,
			Product:     product,
			Store:       store,
			Offline:     offline,
		},
	}, fetcher
}

// ModuleStore is where packages of modules are kept for other directories; "" if
// there is no place.
func ModuleStore(m *cli.Meta) string {
	if m.CacheDir == "" {
		return ""
	}
	return filepath.Join(m.CacheDir, "modules", "v1")
}
