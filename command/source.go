package command

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
)

// sourceOptions is what decides where providers come from.
type sourceOptions struct {
	network
	cli        *cliconfig.Config
	pluginDirs []string // of -plugin-dir; if there are any, nothing else counts
	fallback   getproviders.Fallback
	product    getproviders.Product

	vendored string // a directory that isn't a source, as it is to be filled; "": none

	// kept tells what is on this machine of sources that may not be asked;
	// required where there is no network.
	kept func(getproviders.Provider) []getproviders.CachedPackage
}

// sources makes the sources of providers: those that the user names, else the
// ones that everybody has.
func (m *Meta) sources(o sourceOptions) (all getproviders.MultiSource, err error) {
	all.Fallback = o.fallback
	switch {
	case len(o.pluginDirs) > 0:
		for _, dir := range o.pluginDirs {
			all.Selectors = append(all.Selectors, o.mirrorIn(dir))
		}
	case o.cli.Installation == nil:
		all.Selectors, err = m.impliedSources(o)
		if all.Fallback == getproviders.Exclusive {
			// The registry is kept out of what these directories hold in any
			// case. To them the word would mean all that they don't hold, too.
			all.Fallback = getproviders.StopOnFailure
		}
	default:
		all.Selectors, err = o.configuredSources()
	}
	return all, err
}

// configuredSources makes a source of each installation method, in their order.
func (o sourceOptions) configuredSources() (all []getproviders.Selector, err error) {
	registry := o.registry()
	networkMirrors := map[string]getproviders.Source{} // two methods with one URL ask it once
	for _, method := range o.cli.Installation {
		var selector getproviders.Selector
		switch method.Kind {
		case cliconfig.FilesystemMirror:
			selector = o.mirrorIn(method.Location)
		case cliconfig.NetworkMirror:
			selector.Source, err = o.networkMirror(method.Location, networkMirrors)
		default:
			selector = registry
		}
		if err != nil {
			return nil, err
		}
		selector.Include, selector.Exclude = method.Include, method.Exclude
		all = append(all, selector)
	}
	return all, nil
}

func (o sourceOptions) networkMirror(url string, known map[string]getproviders.Source) (getproviders.Source, error) {
	if source, ok := known[url]; ok {
		return source, nil
	}
	mirror, err := getproviders.NewNetworkMirrorSource(url, o.client, o.credentials, o.product)
	if err != nil {
		return nil, err
	}
	mirror.Signers = o.signers
	known[url] = getproviders.Memoize(mirror)
	if o.offlineBy != "" {
		known[url] = o.offline(mirror)
	}
	return known[url], nil
}

// impliedSources are what there is without a word in the CLI configuration:
// directories in well-known places, and for every provider of which they have
// no package at all, the registry.
func (m *Meta) impliedSources(o sourceOptions) (all []getproviders.Selector, err error) {
	registry := o.registry()
	for _, dir := range cliconfig.ImpliedMirrorDirs(m.Env.Get, m.HomeDir, runtime.GOOS, o.product) {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() || o.vendored != "" && filepath.Clean(dir) == filepath.Clean(o.vendored) {
			continue
		}
		mirror := &getproviders.FilesystemMirrorSource{Dir: dir, Signers: o.signers}
		providers, err := mirror.Providers(m.Context)
		if err != nil {
			return nil, err
		}
		for _, p := range providers {
			registry.Exclude = append(registry.Exclude, getproviders.ExactPattern(p))
		}
		all = append(all, getproviders.Selector{Source: mirror})
	}
	return slices.Concat(all, []getproviders.Selector{registry}), nil
}

func (o sourceOptions) mirrorIn(dir string) getproviders.Selector {
	return getproviders.Selector{Source: &getproviders.FilesystemMirrorSource{Dir: dir, Signers: o.signers}}
}

// registry makes the source that is every provider's own registry.
func (o sourceOptions) registry() getproviders.Selector {
	registry := &getproviders.RegistrySource{
		Client:      o.client,
		Discovery:   o.discovery,
		Credentials: o.credentials,
		Product:     o.product,
	}
	if o.offlineBy != "" {
		return getproviders.Selector{Origin: true, Source: o.offline(registry)}
	}
	return getproviders.Selector{Origin: true, Source: registry}
}

// offline stands for a source that can't be asked.
func (o sourceOptions) offline(source getproviders.Source) getproviders.Source {
	return getproviders.OfflineSource{Source: source, Cached: o.kept, By: o.offlineBy}
}
