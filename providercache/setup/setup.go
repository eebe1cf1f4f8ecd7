// Package setup assembles, from a CLI configuration, what the command line uses: clients with the user's credentials,
// sources of providers, a cache, fetchers of providers and modules, and mirrors and buckets by their address.
//
//	env, err := setup.Load(ctx, setup.Options{
//		User:     cliconfig.User{Environ: os.Environ(), HomeDir: home},
//		Product:  product,
//		CacheDir: filepath.Join(userCacheDir, "tfdeps"), // packages are downloaded once for all directories
//		StateDir: filepath.Join(userStateDir, "tfdeps"), // packages that haven't changed aren't read again
//	})
//	if err != nil {
//		return err
//	}
//	defer env.Close()
//	locks, _, err := env.Installer(".terraform/providers").Install(ctx, required, locks, providercache.Normal)
//
// Of the public packages, only this one includes the drivers of buckets, OCI registries and
// repositories. Programs that need none of them make an Installer from cliconfig.
package setup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/fetch"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// Options configure Load. The zero value means Terraform, and a user without environment variables and home directory.
type Options struct {
	User    cliconfig.User
	Product getproviders.Product

	// CacheDir is the user's directory for caches: packages are shared in "providers/v1" below it,
	// unless the CLI configuration names another cache, and modules in "modules/v1"; "": nothing
	// is shared. StateDir is the directory for receipts; "": no receipts, so that Ensure downloads a package each time, and
	// the other verbs read it each time. Programs that run more than once set both.
	CacheDir, StateDir string

	// Mirrors are locations, as Environment.Mirror takes them. They are asked instead of
	// the sources in the CLI configuration or, with MirrorsFirst, before them.
	Mirrors      []string
	MirrorsFirst bool

	PluginDirs []string // directories in the layout of a filesystem mirror; if set, no other source is asked
	Fallback   getproviders.Fallback
	Offline    bool         // send no request
	Client     *http.Client // nil: getproviders.NewClient makes one

	Policy  func(context.Context, getproviders.Candidate) error // as Fetcher.Policy
	Observe func(context.Context, event.Event)                  // as Fetcher.Observe
}

// Environment is what Load assembles. Its fields may be read, and those of the Fetcher set before its first use.
type Environment struct {
	Config   *cliconfig.Config
	Warnings []cliconfig.Problem // problems of the configuration that aren't errors
	Network  cliconfig.Network
	Source   getproviders.Source
	Fetcher  *providercache.Fetcher
	Cache    *providercache.Store           // nil: no cache can be used
	Skip     map[getproviders.Provider]bool // providers that their developers run from a directory of their own

	opts    Options
	hosts   places.Hosts
	single  cliconfig.SourceOptions
	modules *fetch.Fetcher
	buckets []blob.Bucket
}

// Load reads the user's CLI configuration and assembles an Environment. It contacts no registry or
// mirror, but may look for the credentials of buckets that are mirrors. An error in the configuration
// fails Load: installing from other sources than it names would be worse than installing nothing.
func Load(ctx context.Context, o Options) (*Environment, error) {
	e := &Environment{opts: o, Skip: map[getproviders.Provider]bool{}}
	config, problems := cliconfig.Read(ctx, cliconfig.Find(o.User, o.Product), o.User.Getenv, o.Product)
	e.Config = config
	network := cliconfig.NetworkOptions{Client: o.Client, User: o.User}
	if o.Offline {
		network.OfflineBy = "Options.Offline"
	}
	var more []cliconfig.Problem
	e.Network, more = config.Network(network)
	var errs []error
	for _, p := range append(problems, more...) {
		if p.Warning {
			e.Warnings = append(e.Warnings, p)
			continue
		}
		place := ""
		if p.Line > 0 {
			place = fmt.Sprintf("%s:%d: ", p.File, p.Line)
		}
		errs = append(errs, fmt.Errorf("%s%s: %s", place, p.Summary, p.Detail))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for p := range config.DevOverrides {
		e.Skip[p] = true
	}
	e.hosts = places.Hosts{Network: e.Network, User: o.User, Logins: places.Logins(o.User, config.OCI)}
	e.single = cliconfig.SourceOptions{
		Product: o.Product, Network: e.Network, User: o.User, Dirs: o.PluginDirs, MirrorsFirst: o.MirrorsFirst, Fallback: o.Fallback, OCIMirror: e.hosts.OCIMirror,
		Cached: func(p getproviders.Provider) []getproviders.CachedPackage {
			return (&providercache.Installer{Fetcher: e.Fetcher, Cache: e.Cache}).KnownPackages(p)
		},
	}
	if err := e.openSource(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.openCache()
	e.Fetcher = &providercache.Fetcher{
		Source: e.Source, Client: e.Network.Archives, Product: o.Product, StateDir: o.StateDir, Policy: o.Policy, Observe: o.Observe,
	}
	return e, nil
}

func (e *Environment) openSource(ctx context.Context) (err error) {
	for _, location := range e.opts.Mirrors {
		source, err := e.Mirror(ctx, location)
		if err != nil {
			return fmt.Errorf("the mirror %s can't be used: %w", places.Redacted(location), err)
		}
		e.single.Mirrors = append(e.single.Mirrors, source)
	}
	e.Source, err = e.Config.Source(ctx, e.single)
	return err
}

// openCache opens the cache that the user names, else that of tfdeps. Without a cache, packages are fetched for each directory.
func (e *Environment) openCache() {
	dir, named := e.Config.PluginCacheDir, true
	if dir == "" && e.opts.CacheDir != "" {
		dir, named = filepath.Join(e.opts.CacheDir, "providers", "v1"), false
	}
	if cache, err := providercache.OpenCache(dir, named); err == nil {
		e.Cache = cache
	}
}

// Installer returns an Installer for a directory such as ".terraform/providers", which uses the cache.
func (e *Environment) Installer(dir string) *providercache.Installer {
	return &providercache.Installer{Fetcher: e.Fetcher, Target: &providercache.Store{Dir: dir}, Cache: e.Cache, Skip: e.Skip}
}

// Modules returns a Resolver of modules, which fetches missing ones from registries, repositories, archives and buckets.
func (e *Environment) Modules() *configs.Resolver {
	store := filepath.Join(e.opts.CacheDir, "modules", "v1")
	if e.opts.CacheDir == "" || !owner.IsOwnDir(store) { // whoever can write to it could exchange modules
		store = ""
	}
	if e.modules == nil {
		e.modules = e.hosts.Modules(e.opts.Product, store)
	}
	return &configs.Resolver{
		Fetcher: e.modules, Client: e.Network.Client, Discovery: e.Network.Discovery, Credentials: e.Network.Credentials,
		Store: store, Offline: e.opts.Offline, HomeDir: e.opts.User.HomeDir,
	}
}

// Mirror returns the source at a location: a directory in the layout of a filesystem mirror, a network mirror at
// https://, a bucket at s3:// or gs://, or the repositories of oci://HOST/PATH/${namespace}/${type}.
func (e *Environment) Mirror(ctx context.Context, location string) (getproviders.Source, error) {
	source, bucket, err := e.hosts.Mirror(ctx, e.single, location)
	if bucket != nil {
		e.buckets = append(e.buckets, bucket)
	}
	return source, err
}

// Destination returns where mirror.Update puts packages: a directory, a bucket or an OCI registry, named as for Mirror.
func (e *Environment) Destination(ctx context.Context, location string) (mirror.Destination, error) {
	switch {
	case places.IsOCI(location):
		releases, err := e.hosts.Releases(location, nil)
		if err != nil {
			return nil, err
		}
		return mirror.Registry(releases), nil
	case !places.IsURL(location):
		return mirror.Directory(location), nil
	}
	bucket, err := e.Bucket(ctx, location)
	if err != nil {
		return nil, err
	}
	return mirror.Bucket(bucket), nil
}

// Bucket opens the bucket at an s3:// or gs:// address. Environment.Close closes it.
func (e *Environment) Bucket(ctx context.Context, location string) (blob.Bucket, error) {
	bucket, err := e.hosts.Bucket(ctx, location)
	if err == nil {
		e.buckets = append(e.buckets, bucket)
	}
	return bucket, err
}

// Close closes buckets and module fetchers. The Environment must not be used afterwards.
func (e *Environment) Close() error {
	var errs []error
	for _, bucket := range e.buckets {
		errs = append(errs, bucket.Close())
	}
	if e.modules != nil {
		errs = append(errs, e.modules.Close())
	}
	return errors.Join(errs...)
}
