package sources

import (
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// Reporter is embedded in the options of commands that end with one report.
type Reporter struct {
	*Session
	cli.Given
	Out cli.Output // how the report is shown
}

// Base is the part of a command's options that [Command] fills.
func (r *Reporter) Base() *Reporter { return r }

// JSONFlag is the row of -json.
func (r *Reporter) JSONFlag(help string, more ...string) cli.Flag {
	return cli.Switch("json", &r.Out.JSON, help, more...)
}

// Command returns a command whose options are a T.
func Command[T any, Options interface {
	*T
	Flags() cli.Flags
	// Report runs the command. The report may be nil, and problems are in the Log; the error is about arguments.
	Report() (*result.Result, error)
	Base() *Reporter
}](c cli.Command, read func(cli.Flags, []string, cli.Environment) (cli.Given, error)) cli.Command {
	c.Flags = func() cli.Flags { return Options(new(T)).Flags() }
	c.Run = func(m *cli.Meta, args []string) (_ int, err error) {
		o := Options(new(T))
		r := o.Base()
		if r.Given, err = read(o.Flags(), args, m.Env); err != nil {
			return 0, err
		}
		r.Session = New(m, products.Unversioned(m), false)
		defer r.Close() // after the problems are shown, because these quote files of fetched modules
		report, err := o.Report()
		if err != nil {
			return 0, err
		}
		return r.Meta.Finish(report, r.Log.All, r.Out), nil
	}
	return c
}

// Choose logs problems of the command's options, and sets the product. It reports whether there is no error.
func (s *Session) Choose(found ...*problem.Problem) (ok bool) {
	s.Log.Add(found...)
	s.Product, found = products.Choose(s.Meta)
	return s.Log.Add(found...)
}

// Session is the state of a command in a directory: the product, the problems so far, and the clients and sources. Each
// directory of a run has one, and they share configurations, clients and fetched packages. It is for one goroutine.
type Session struct {
	Network       // set by Online, or by Connect and ReadPolicy
	Meta          *cli.Meta
	explain.Names                     // of the product whose work is done
	Log           *problem.Log        // steps add to it, and return whether the next one may run
	Config        *cliconfig.Config   // nil before ReadConfig
	Source        getproviders.Source // of providers; empty until the command sets it
	Mirrors       []Mirror            // of -mirror, in the order of the options

	ends   []func() // the functions that Close calls
	inside bool     // the Session was made by In
	run    *shared
}

// shared is the state that the directories of a run share. The zero value shares nothing.
type shared struct {
	configs map[string]*cliconfig.Config // by the version of the product
	caches  map[*cliconfig.Config]*providercache.Store
	nets    map[place]Network

	several  bool         // the run works in several directories
	archives *scratch.Dir // nil until it is needed
}

// place is the key of a Network.
type place struct {
	version string         // of the product
	cloud   hosts.Hostname // that localterraform.com stands for, or ""
}

// New returns a Session for one directory or several. The caller has to close it.
func New(m *cli.Meta, product getproviders.Product, several bool) *Session {
	s := alone(m, product)
	s.run = &shared{several: several, configs: map[string]*cliconfig.Config{}, caches: map[*cliconfig.Config]*providercache.Store{}, nets: map[place]Network{}}
	return s
}

// alone returns a Session that shares and caches nothing.
func alone(m *cli.Meta, product getproviders.Product) *Session {
	return &Session{Meta: m, Names: m.Names(product), Log: new(problem.Log), Source: getproviders.MultiSource{}, run: new(shared)}
}

// In returns the Session of one of several directories. The caller has to close it before this one.
func (s *Session) In(m *cli.Meta, product getproviders.Product) *Session {
	inside := alone(m, product)
	inside.run, inside.inside = s.run, true
	return inside
}

// Close closes mirrors and the fetchers of modules, and removes the archives.
func (s *Session) Close() {
	for _, end := range s.ends {
		end()
	}
	if s.inside {
		return
	}
	if s.run.archives != nil {
		s.run.archives.Remove()
	}
	for _, net := range s.run.nets {
		if net.modules.fetcher != nil {
			_ = net.modules.fetcher.Close()
		}
	}
}

// AtEnd makes Close call a function.
func (s *Session) AtEnd(do func()) { s.ends = append(s.ends, do) }

// ArchiveDir returns a directory for archives that several directories need and no shared cache has. It is beside the shared cache, because archives
// can be large, and is removed when the first Session is closed. "" means that the run has one directory, or that it can't be made.
func (s *Session) ArchiveDir() string {
	m := s.Meta
	if s.run.several && s.run.archives == nil && m.CacheDir != "" {
		if _, err := scratch.MakeDirs(m.CacheDir); err == nil {
			scratch.Sweep(m.CacheDir, m.Now())
			s.run.archives, _ = scratch.Make(m.CacheDir)
		}
	}
	if s.run.archives == nil {
		return ""
	}
	return s.run.archives.Path
}

// ReadConfig reads the CLI configuration. Warnings are logged once in a run.
func (s *Session) ReadConfig() bool {
	if s.Config = s.run.configs[s.Product.Version]; s.Config != nil {
		return s.Log.Add()
	}
	var problems problem.List
	s.Config, problems = ReadConfig(s.Meta, s.Product)
	if s.run.configs != nil && !problems.HasErrors() {
		s.run.configs[s.Product.Version] = s.Config
	}
	return s.Log.Add(problems...)
}

// Cache calls OpenCache once in a run.
func (s *Session) Cache() *providercache.Store {
	cache, known := s.run.caches[s.Config]
	if !known {
		var problems problem.List
		cache, problems = OpenCache(s.Meta, s.Config)
		s.run.caches[s.Config] = cache
		s.Log.Add(problems...)
	}
	return cache
}

// FindCache is OpenCache for commands about the cache, which fail without
// one. If given, the value of -dir, isn't "", the cache is below that directory.
func (s *Session) FindCache(given string) (*providercache.Store, bool) {
	dir, named := cachePath(s.Meta, s.Config)
	if given != "" {
		dir, named = filepath.Join(given, filepath.FromSlash(cacheLayout)), false
	}
	if dir == "" && s.Meta.Withheld != "" {
		return nil, s.Log.Fail("cache_failed", "There is no shared cache",
			"No cache is kept in this user's home: %s.\n\nTo have one, %s.", s.Meta.Withheld, nameCache)
	}
	if dir == "" {
		return nil, s.Log.Fail("cache_failed", "There is no shared cache",
			"This user has no directory for caches, because HOME (on Windows, LocalAppData) isn't set.\n\nSet it, or name a directory with the variable %s.", cacheDirVariable)
	}
	cache, err := providercache.OpenCache(dir, named)
	return cache, err == nil || s.Log.Fail("cache_failed", "There is no shared cache",
		"It can't be used: %v.\n\nName another one with the variable %s.", err, cacheDirVariable)
}

// Maintenance returns the maintenance of a cache.
func (s *Session) Maintenance(cache *providercache.Store) *providercache.Maintenance {
	f := &providercache.Fetcher{StateDir: s.Meta.StateDir, Now: s.Meta.Now}
	if s.Meta.Activity != nil {
		f.Observe = event.Observer(s.Meta.Activity.Observe)
	}
	return f.Maintain(cache)
}

// Caches returns the opened caches by CLI configuration; nil stands for a cache that can't be used.
func (s *Session) Caches() map[*cliconfig.Config]*providercache.Store { return s.run.caches }

// Connect is the function Connect; cloud is the host that localterraform.com stands for, or "".
func (s *Session) Connect(offlineBy string, cloud hosts.Hostname) bool {
	at := place{s.Product.Version, cloud}
	net, known := s.run.nets[at]
	var problems problem.List
	if !known {
		net, problems = Connect(s.Meta, s.Product, s.Config, offlineBy)
		if cloud != "" && net.Aliases != nil {
			net.Aliases[hosts.GenericHost] = cloud
		}
		if s.run.nets != nil && !problems.HasErrors() {
			net.Network, net.Discovery.Hasty = net.SharingSources(), s.run.several
			s.run.nets[at] = net
		}
	}
	if net.modules != nil { // after an error the previous clients stay
		s.Hosts, s.modules = net.Hosts, net.modules
	}
	return s.Log.Add(problems...)
}

// Online reads the CLI configuration and the policy, with the values of -policy, and makes the
// clients; offlineBy is as for Connect.
func (s *Session) Online(offlineBy string, rulesGiven ...string) bool {
	s.ReadConfig()
	if !s.Log.Add(CheckArchiveCredentials(s.Meta.Env)...) {
		return false
	}
	s.Connect(offlineBy, "")
	return s.ReadPolicy(rulesGiven)
}

// Online is [Session.Online] for a long-lived program. After errors the Network can't be used.
func Online(m *cli.Meta, product getproviders.Product, offlineBy string) (*cliconfig.Config, Network, problem.List) {
	s := alone(m, product)
	s.Online(offlineBy)
	return s.Config, s.Network, s.Log.All
}

// ReadPolicy reads the Policy of the current directory.
func (s *Session) ReadPolicy(given []string) (ok bool) {
	s.Policy, ok = s.PolicyOf(".", given)
	return ok
}

// OpenMirrors opens the mirrors of -mirror, and completes the options of a single source. It sends no request to
// mirrors, but may look for the credentials of buckets.
func (s *Session) OpenMirrors(given []string, o cliconfig.SourceOptions) (single cliconfig.SourceOptions, ok bool) {
	single = s.Single(s.Product, o)
	for _, location := range given {
		source, bucket, err := s.Mirror(s.Meta.Context, single, location)
		opened := Mirror{Location: places.Redacted(location), Source: source}
		if bucket != nil {
			s.AtEnd(func() { _ = bucket.Close() })
		}
		if err != nil {
			s.Log.Fail("invalid_option", "Invalid mirror", "The mirror %s can't be used: %v.", opened.Location, err)
			continue
		}
		s.Mirrors, single.Mirrors = append(s.Mirrors, opened), append(single.Mirrors, source)
	}
	return single, s.Log.Add()
}

// OpenSources returns the sources of providers: the given mirrors, and those of the CLI configuration unless the mirrors replace them.
func (s *Session) OpenSources(mirrors []string, o cliconfig.SourceOptions) (all getproviders.MultiSource, ok bool) {
	single, ok := s.OpenMirrors(mirrors, o)
	if !ok {
		return all, false
	}
	all, err := s.Config.Source(s.Meta.Context, single)
	return all, err == nil || s.Log.Failed("cli_configuration", "Can't search for providers", err)
}

// Fetcher returns a fetcher of packages from the Source, whose events go to observe. It excludes versions as the Policy says; the caller
// has to set the hook that refuses packages.
func (s *Session) Fetcher(observe func(event.Event)) *providercache.Fetcher {
	return &providercache.Fetcher{
		Source: s.Source, Client: s.Archives, Product: s.Product, Observe: event.Observer(observe), Now: s.Meta.Now, StateDir: s.Meta.StateDir, Choice: s.Policy.Versions(),
	}
}

// Modules returns the resolver of modules for the current directory, which also fetches them.
func (s *Session) Modules() modules.Resolver {
	m, with := s.Meta, s.modules
	if with.fetcher == nil {
		store := ownModuleStore(m)
		with.fetcher, with.registries = s.Hosts.Modules(s.Product, store), s.Registries(s.Product, store)
		if m.Activity != nil {
			with.fetcher.Report = m.Activity.Module
		}
	}
	return modules.Resolver{
		Dir:        workdir.ModulesDir(m.Env),
		Product:    s.Product,
		Fetcher:    with.fetcher,
		Registries: with.registries,
		Allow:      s.Policy.AllowsModule(),
		Hint:       s.Hint,
	}
}

// CheckLocks checks the entries of a lock file by the Policy, and logs what it refuses.
func (s *Session) CheckLocks(locks *depsfile.Locks, of []getproviders.Provider) bool {
	for _, r := range s.Policy.CheckLocks(locks, of) {
		s.Log.Fail("refused_by_policy", "A lock file lacks hashes for the required platforms",
			"Provider %s: %v.\n\nTo add what it lacks, run \"%s providers lock\" without any of the options that forbid it.", s.Short(r.Provider), r, s.Called)
	}
	return s.Log.Add()
}

// LockPlatforms adds to locks the hashes for platforms. Their packages are not kept.
func (s *Session) LockPlatforms(f *providercache.Fetcher, req providercache.LockRequest) (*depsfile.Locks, bool) {
	results, err := f.Lock(s.Meta.Context, req)
	if err != nil {
		s.Log.Add(s.LockProblems(explain.LockedDir{Result: results[0]})...)
	}
	return results[0].Locks, s.Log.Add()
}
