package cliconfig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// SourceOptions are the parameters of [Config.Source]. The zero value is for Terraform, without a
// user: no variables, no home.
type SourceOptions struct {
	Product getproviders.Product

	// Network has the clients; zero means that [Config.Network] makes it for the user.
	Network Network
	// User decides which directories are mirrors without a provider_installation block: see
	// [ImpliedMirrorDirs].
	User User

	// Dirs are directories in the layout of a filesystem mirror, as of -plugin-dir. If set, no
	// other source is asked.
	Dirs []string
	// OCIMirror makes the source of an oci_mirror block; nil makes a provider of such a block an
	// error. This package doesn't import a client of such registries, so that programs which don't
	// need one don't link it.
	OCIMirror func(address func(getproviders.Provider) string) getproviders.Source
	// Mirrors are asked in order in place of the configuration's sources, or before them with MirrorsFirst. Dirs replace
	// Mirrors, too.
	Mirrors      []getproviders.Source
	MirrorsFirst bool
	// Except is a directory that isn't used as an implied mirror, because the caller is about to
	// fill it; "" means none.
	Except string

	// Signers says whose signatures count in mirrors.
	Signers getproviders.Signers
	// Fallback sets whether the next sources are used after one fails.
	Fallback getproviders.Fallback

	// Cached returns the packages of a provider on this machine; required if the network is
	// offline.
	Cached func(getproviders.Provider) []getproviders.CachedPackage
}

// Source returns the source of providers that the configuration describes: the methods of its provider_installation block in
// order, or Mirrors. Without such a block, these are the existing directories of [ImpliedMirrorDirs] and, for every provider
// without a package in any of them, its registry. Paths of mirrors are relative to the working directory of the process.
//
// Source sends no request; it lists the directories of implied mirrors. It doesn't leave out the providers in
// [Config.DevOverrides]: an installer must skip them.
func (c *Config) Source(ctx context.Context, o SourceOptions) (all getproviders.MultiSource, err error) {
	if o.Network, err = c.usable(o); err != nil {
		return all, err
	}
	all.Fallback = o.Fallback
	switch {
	case len(o.Dirs) > 0:
		for _, dir := range o.Dirs {
			all.Selectors = append(all.Selectors, getproviders.Selector{Source: o.FilesystemMirror(dir)})
		}
	case len(o.Mirrors) > 0 && !o.MirrorsFirst:
		all.Selectors = o.mirrors()
	case c.Installation == nil:
		all.Selectors, err = o.implied(ctx)
		if all.Fallback == getproviders.Exclusive && len(o.Mirrors) == 0 {
			// The Exclude of the registry has the providers of these directories already. Exclusive
			// would keep the registry from serving any other provider, too.
			all.Fallback = getproviders.StopOnFailure
		}
	default:
		all.Selectors, err = o.configured(c.Installation)
	}
	if len(o.Dirs) == 0 && o.MirrorsFirst {
		all.Selectors = slices.Concat(o.mirrors(), all.Selectors)
	}
	return all, err
}

// MirrorsOr returns a source that asks the Mirrors of the options, or the other source if there are no
// Mirrors.
func (o SourceOptions) MirrorsOr(other getproviders.Source) getproviders.Source {
	if len(o.Mirrors) == 0 {
		return other
	}
	return getproviders.MultiSource{Selectors: o.mirrors(), Fallback: o.Fallback}
}

// mirrors returns the selectors of Mirrors.
func (o SourceOptions) mirrors() (all []getproviders.Selector) {
	for _, mirror := range o.Mirrors {
		all = append(all, getproviders.Selector{Source: o.retried(mirror, nil)})
	}
	return all
}

// usable returns the network of the options, or makes one. A program that can do without a
// credentials helper makes the Network itself.
func (c *Config) usable(o SourceOptions) (Network, error) {
	if o.Network.Client != nil {
		return o.Network, nil
	}
	network, problems := c.Network(NetworkOptions{User: o.User, OfflineBy: o.Network.OfflineBy})
	if len(problems) > 0 {
		return network, errors.New(problems[0].Detail)
	}
	return network, nil
}

// Registry returns a source that asks every provider's own registry. Unlike [Config.Source] it
// needs a Network.
func (o SourceOptions) Registry() getproviders.Source {
	return o.offline(o.Network.source("registry", func() getproviders.Source {
		return &getproviders.RegistrySource{
			Client:      o.Network.Client,
			Discovery:   o.Network.Discovery,
			Credentials: o.Network.Credentials,
			Product:     o.Product,
		}
	}))
}

// FilesystemMirror returns the source of a directory.
func (o SourceOptions) FilesystemMirror(dir string) getproviders.Source {
	return &getproviders.FilesystemMirrorSource{Dir: dir, Signers: o.Signers}
}

// NetworkMirror returns the source of the mirror at a URL. Unlike [Config.Source] it needs a
// Network.
func (o SourceOptions) NetworkMirror(url string) (getproviders.Source, error) {
	return o.networkMirror(url, false)
}

func (o SourceOptions) networkMirror(url string, trustAll bool) (getproviders.Source, error) {
	mirror, err := getproviders.NewNetworkMirrorSource(url, o.Network.Client, o.Network.Credentials, o.Product)
	if err != nil {
		return nil, err
	}
	mirror.Signers, mirror.TrustAllHashes = o.Signers, trustAll
	if o.Network.OfflineBy != "" {
		return o.offline(mirror), nil
	}
	return o.Network.source(fmt.Sprint(trustAll, url), func() getproviders.Source { return getproviders.Memoize(mirror) }), nil
}

// offline returns the source, or an [getproviders.Offline] in its place if no requests are allowed.
func (o SourceOptions) offline(source getproviders.Source) getproviders.Source {
	if o.Network.OfflineBy == "" {
		return source
	}
	return getproviders.Offline(source, o.Network.OfflineBy, o.Cached)
}

// configured returns a selector for each installation method. Methods with the same URL share a
// source and its cache.
func (o SourceOptions) configured(methods []Method) (all []getproviders.Selector, err error) {
	if o.Network.sources == nil {
		o.Network = o.Network.SharingSources()
	}
	for _, method := range methods {
		selector := getproviders.Selector{Include: method.Include, Exclude: method.Exclude}
		switch method.Kind {
		case Direct:
			selector.Source, selector.IsRegistry = o.retried(o.Registry(), method.retries), true
		case FilesystemMirror:
			selector.Source = o.FilesystemMirror(method.Location)
		case NetworkMirror:
			mirror, err := o.networkMirror(method.Location, method.trustAll)
			if err != nil {
				return nil, err
			}
			selector.Source = o.retried(mirror, method.retries)
		case OCIMirror:
			selector.Source = unsupportedSource(method.Location)
			if o.OCIMirror != nil {
				selector.Source = o.offline(o.Network.source(method.Location, func() getproviders.Source { return o.OCIMirror(method.Template.Address) }))
			}
		default:
			return nil, fmt.Errorf("there is no installation method of kind %d", method.Kind)
		}
		all = append(all, selector)
	}
	return all, nil
}

// implied returns the selectors of a configuration that names no sources.
func (o SourceOptions) implied(ctx context.Context) (all []getproviders.Selector, err error) {
	registry := getproviders.Selector{Source: o.retried(o.Registry(), nil), IsRegistry: true}
	for _, dir := range ImpliedMirrorDirs(o.User, o.Product) {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() || o.Except != "" && filepath.Clean(dir) == filepath.Clean(o.Except) {
			continue
		}
		mirror := &getproviders.FilesystemMirrorSource{Dir: dir, Signers: o.Signers}
		providers, err := mirror.Providers(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range providers {
			registry.Exclude = append(registry.Exclude, getproviders.Pattern(p))
		}
		all = append(all, getproviders.Selector{Source: mirror})
	}
	return slices.Concat(all, []getproviders.Selector{registry}), nil
}

// OpenTofu's number of retries of a download, and its environment variable.
const (
	retriesVariable = "TF_PROVIDER_DOWNLOAD_RETRY"
	defaultRetries  = 2
)

// retried returns a source whose archives are requested again as often as in OpenTofu: given if the
// method has it, or the variable if it is a positive number, or the default.
func (o SourceOptions) retried(source getproviders.Source, given *int) getproviders.Source {
	if !dialect.Of(o.Product).Understands("download_retry_count") {
		return source
	}
	retries := defaultRetries
	if n, err := strconv.Atoi(o.User.Getenv(retriesVariable)); err == nil && n > 0 {
		retries = n
	}
	if given != nil {
		retries = *given
	}
	return retriedSource{source, retries}
}

// retriedSource sets the number of retries in each archive.
type retriedSource struct {
	getproviders.Source
	retries int
}

// Package implements getproviders.Source.
func (s retriedSource) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	found, err := s.Source.Package(ctx, p, v, plat)
	if archive, ok := found.Location.(getproviders.HTTPArchive); ok && err == nil {
		archive.Retries = &s.retries
		found.Location = archive
	}
	return found, err
}

// unsupportedSource is the source of an oci_mirror block without OCIMirror. It fails only when a
// provider is looked for in it.
type unsupportedSource string

func (s unsupportedSource) fail(p getproviders.Provider) error {
	return fmt.Errorf("%s would be installed from an OCI registry (%s), which tfdeps can't do: let the oci_mirror block exclude it, or run tofu init itself", p, string(s))
}

// Describe implements getproviders.Source.
func (s unsupportedSource) Describe(getproviders.Provider) getproviders.Description {
	return getproviders.Description{Name: "OCI registry " + string(s)}
}

// Versions implements getproviders.Source.
func (s unsupportedSource) Versions(_ context.Context, p getproviders.Provider) (getproviders.Available, error) {
	return getproviders.Available{}, s.fail(p)
}

// Package implements getproviders.Source.
func (s unsupportedSource) Package(_ context.Context, p getproviders.Provider, _ getproviders.Version, _ getproviders.Platform) (getproviders.Package, error) {
	return getproviders.Package{}, s.fail(p)
}
