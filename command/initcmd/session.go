package initcmd

import (
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/internal/config/fetch"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/providercache"
)

// session is what the directories of a run share: each file is read, each host asked and each package fetched once for all
// of them. It is for one goroutine.
type session struct {
	configs map[string]*cliconfig.Config // by the version of the product
	caches  map[*cliconfig.Config]*providercache.Store
	nets    map[place]*network
}

// place is from where hosts are asked.
type place struct {
	version string         // of the product
	cloud   hosts.Hostname // that localterraform.com stands for; "": none
}

// network is how hosts are reached, with what they have answered.
type network struct {
	sources.Network
	fetcher    *fetch.Fetcher
	registries *modules.Registries
}

func newSession() *session {
	return &session{map[string]*cliconfig.Config{}, map[*cliconfig.Config]*providercache.Store{}, map[place]*network{}}
}

func (s *session) close() {
	for _, net := range s.nets {
		if net.fetcher != nil {
			_ = net.fetcher.Close()
		}
	}
}

// config reads the CLI configuration. What is only a warning is told once.
func (s *session) config(r request) (*cliconfig.Config, problem.List) {
	if known := s.configs[r.product.Version]; known != nil {
		return known, nil
	}
	config, problems := sources.ReadConfig(r.meta, r.product)
	if !problems.HasErrors() {
		s.configs[r.product.Version] = config
	}
	return config, problems
}

// cache opens the cache that directories share.
func (s *session) cache(r request, config *cliconfig.Config) (*providercache.Store, problem.List) {
	cache, known := s.caches[config]
	if known {
		return cache, nil
	}
	cache, problems := sources.OpenCache(r.meta, config)
	s.caches[config] = cache
	return cache, problems
}

// connect makes the clients.
func (s *session) connect(in *installation, cloud hosts.Hostname) (*network, problem.List) {
	at := place{in.product.Version, cloud}
	if known := s.nets[at]; known != nil {
		return known, nil
	}
	net, problems := sources.Connect(in.meta, in.product, in.settings.config, in.opts.offlineBy)
	made := &network{Network: net}
	if !problems.HasErrors() {
		s.nets[at] = made
	}
	if cloud != "" {
		net.Aliases[hosts.GenericHost] = cloud
	}
	return made, problems
}

// modules returns what finds the modules of the current directory.
func (in *installation) modules() modules.Resolver {
	resolver, fetcher := in.settings.net.Modules(in.meta, in.product)
	net, _ := in.session.connect(in, in.cloud)
	if net.fetcher == nil {
		net.fetcher, net.registries = fetcher, resolver.Registries
	}
	resolver.Fetcher, resolver.Registries = net.fetcher, net.registries
	return resolver
}
