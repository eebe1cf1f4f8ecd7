package sources

import (
	"slices"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/fetch"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache"
)

// Session is what the directories of a run share: each file is read, each host asked and each package fetched once for all
// of them. It is for one goroutine. The zero value shares nothing.
type Session struct {
	configs map[string]*cliconfig.Config // by the version of the product
	caches  map[*cliconfig.Config]*providercache.Store
	nets    map[place]Network

	several  bool         // directories
	archives *scratch.Dir // nil: not needed yet
}

// place is from where hosts are asked.
type place struct {
	version string         // of the product
	cloud   hosts.Hostname // that localterraform.com stands for; "": none
}

// shared are what finds and fetches the modules of several directories; nil before the first one needs them.
type shared struct {
	fetcher    *fetch.Fetcher
	registries *modules.Registries
}

// NewSession returns a Session for one directory or several, which is to be closed.
func NewSession(several bool) *Session {
	return &Session{several: several, configs: map[string]*cliconfig.Config{}, caches: map[*cliconfig.Config]*providercache.Store{}, nets: map[place]Network{}}
}

// Close ends what fetches modules, and removes the archives.
func (s *Session) Close() {
	if s.archives != nil {
		s.archives.Remove()
	}
	for _, net := range s.nets {
		if net.shared.fetcher != nil {
			_ = net.shared.fetcher.Close()
		}
	}
}

// ArchiveDir is a directory for archives that several directories need and no shared cache has, until the session is closed; "" if there is no place, or one
// directory: beside the shared cache, as they can be large.
func (s *Session) ArchiveDir(m *cli.Meta) string {
	if s.several && s.archives == nil && m.CacheDir != "" {
		if _, err := scratch.MakeDirs(m.CacheDir); err == nil {
			scratch.Sweep(m.CacheDir, m.Now())
			s.archives, _ = scratch.Make(m.CacheDir)
		}
	}
	if s.archives == nil {
		return ""
	}
	return s.archives.Path
}

// Config is ReadConfig. What is only a warning is told once.
func (s *Session) Config(m *cli.Meta, product getproviders.Product) (*cliconfig.Config, problem.List) {
	if known := s.configs[product.Version]; known != nil {
		return known, nil
	}
	config, problems := ReadConfig(m, product)
	if s.configs != nil && !problems.HasErrors() {
		s.configs[product.Version] = config
	}
	return config, problems
}

// Cache is OpenCache.
func (s *Session) Cache(m *cli.Meta, config *cliconfig.Config) (*providercache.Store, problem.List) {
	cache, known := s.caches[config]
	if known {
		return cache, nil
	}
	cache, problems := OpenCache(m, config)
	s.caches[config] = cache
	return cache, problems
}

// Caches are those that were opened, by their CLI configurations; nil stands for one that can't be used.
func (s *Session) Caches() map[*cliconfig.Config]*providercache.Store { return s.caches }

// Connect is the function Connect; cloud is the host that localterraform.com stands for, "" if there is none.
func (s *Session) Connect(m *cli.Meta, product getproviders.Product, config *cliconfig.Config, offlineBy string, cloud hosts.Hostname) (Network, problem.List) {
	at := place{product.Version, cloud}
	if known, ok := s.nets[at]; ok {
		return known, nil
	}
	net, problems := Connect(m, product, config, offlineBy)
	if cloud != "" && net.Aliases != nil {
		net.Aliases[hosts.GenericHost] = cloud
	}
	if s.nets != nil {
		if net.Network, net.shared = net.SharingSources(), new(shared); !problems.HasErrors() {
			net.Discovery.Hasty = s.several
			s.nets[at] = net
		}
	}
	return net, problems
}

// Online is the function Online.
func (s *Session) Online(m *cli.Meta, product getproviders.Product, offlineBy string, rulesGiven ...string) (*cliconfig.Config, Network, problem.List) {
	config, problems := s.Config(m, product)
	if problems = append(problems, CheckArchiveCredentials(m.Env)...); problems.HasErrors() {
		return config, Network{}, problems
	}
	net, unreached := s.Connect(m, product, config, offlineBy, "")
	rules, unruled := ReadPolicy(m, product, rulesGiven)
	rules.cache = config
	net.Policy = rules
	return config, net, slices.Concat(problems, unreached, unruled)
}
