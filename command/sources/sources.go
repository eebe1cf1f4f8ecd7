// Package sources reads the CLI configuration and the environment, and makes from
// them HTTP clients with the user's credentials, the sources of providers, the
// resolver of modules, and the shared cache.
//
//	s := sources.New(m, product, false)
//	defer s.Close()
//	if s.Online("") { all, ok := s.OpenSources(nil, cliconfig.SourceOptions{}) ... }
package sources

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cliblock"
	"github.com/tfdeps/tfdeps/internal/config/fetch"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/providercache"
)

// ReadConfig reads the CLI configuration. Problems with it are errors, because installing
// from other sources or with other credentials would be worse than installing nothing.
func ReadConfig(m *cli.Meta, product getproviders.Product) (*cliconfig.Config, problem.List) {
	config, found := cliconfig.Read(m.Context, ConfigFiles(m, product), m.Env.Get, product)
	return config, result.Each(found, configProblem)
}

// configProblem returns the problem with its file and line. Unlike for other files the lines themselves aren't
// shown, because they may have tokens.
func configProblem(p cliconfig.Problem) *problem.Problem {
	detail := p.Detail
	if p.Line > 0 {
		detail += fmt.Sprintf("\n\nThis is about %s:%d.", p.File, p.Line)
	}
	tell := problem.Errorf
	if p.Warning {
		tell = problem.Warningf
	}
	return tell(cmp.Or(p.Code, "cli_configuration"), p.Summary, "%s", detail)
}

// ReattachVariable lists providers that run already.
const ReattachVariable = "TF_REATTACH_PROVIDERS"

// Skipped returns the providers that come by other means than a package: from a directory of
// dev_overrides, or as a running process.
func Skipped(env cli.Environment, config *cliconfig.Config, product getproviders.Product) (map[getproviders.Provider]bool, problem.List) {
	skip := map[getproviders.Provider]bool{}
	for p := range config.DevOverrides {
		skip[p] = true
	}
	running, err := cliblock.Reattached(env.Get(ReattachVariable), product)
	if err != nil {
		return nil, problem.Fail("invalid_variable", "Invalid value of "+ReattachVariable, "%v", err)
	}
	for _, p := range running {
		skip[p] = true
	}
	return skip, nil
}

// moduleSources find and fetch modules. The fields are nil until a directory needs them.
type moduleSources struct {
	fetcher    *fetch.Fetcher
	registries *modules.Registries
}

// Network has the clients of a command, and the policy.
type Network struct {
	places.Hosts
	Policy  Policy         // the rules for the current directory
	modules *moduleSources // of Connect
}

// Connect makes the clients. If offlineBy isn't "", it names the option that forbids requests,
// and the clients refuse to send any.
func Connect(m *cli.Meta, product getproviders.Product, config *cliconfig.Config, offlineBy string) (Network, problem.List) {
	o := cliconfig.NetworkOptions{User: user(m), SameHost: m.Env.Get(archiveCredentialsVariable) == "same-host", OfflineBy: offlineBy}
	if offlineBy == "" {
		var err error
		if o.Client, err = m.NewClient(hosts.ClientOptions{UserAgent: m.UserAgent(product), OnRetry: m.Activity.Retrying}); err != nil {
			return Network{}, problem.Fail("cli_configuration", "Can't make an HTTP client", "%v", err)
		}
		o.Client = keepDocuments(o.Client, m)
	}
	made, found := config.Network(o)
	var problems problem.List
	if offlineBy == "" {
		problems = problem.AsWarnings(CheckProxies(m.Env))
	}
	trusted, invalid := signers(m, product)
	return Network{Hosts: places.Hosts{Network: made, User: user(m), Signers: trusted, Logins: places.Logins(user(m), config.OCI)}, modules: new(moduleSources)}, slices.Concat(problems, result.Each(found, configProblem), invalid)
}

// user returns the user, with the files and variables that are read.
func user(m *cli.Meta) cliconfig.User {
	return cliconfig.User{Environ: m.Env, HomeDir: m.HomeDir, GOOS: runtime.GOOS}
}

// archiveCredentialsVariable with the value "same-host" sends a registry's or a
// mirror's token also for packages on the same host.
const archiveCredentialsVariable = "TFDEPS_ARCHIVE_CREDENTIALS"

// CheckArchiveCredentials refuses unknown values of the variable.
func CheckArchiveCredentials(env cli.Environment) problem.List {
	given := env.Get(archiveCredentialsVariable)
	if given == "" || given == "same-host" {
		return nil
	}
	return problem.Fail("invalid_variable", "Invalid setting for credentials",
		"The value of %s is %q. It has to be \"same-host\" or empty.", archiveCredentialsVariable, given)
}

// trustedKeysVariable lists files with public keys, and IDs of partners' keys.
const trustedKeysVariable = "TFDEPS_TRUSTED_KEYS"

// maxKeyBytes limits the size of a file with a public key.
const maxKeyBytes = 1 << 20

// signers returns the keys that this user trusts in mirrors, in addition to the built-in
// ones. Each is FILE, an ASCII-armored public key for all providers,
// PATTERN=FILE, a key for matching providers, or PATTERN=ID, the ID of a partner's key.
func signers(m *cli.Meta, product getproviders.Product) (trusted getproviders.Signers, problems problem.List) {
	for _, given := range filepath.SplitList(m.Env.Get(trustedKeysVariable)) {
		if given == "" {
			continue
		}
		key, err := readTrustedKey(given, product)
		if err != nil {
			problems = append(problems, problem.Errorf("invalid_variable", "Invalid trusted key",
				"The value of %s can't be used: %v. It takes files with ASCII-armored public keys, each as FILE or PATTERN=FILE, and keys of HashiCorp's partners as PATTERN=ID.", trustedKeysVariable, err))
			continue
		}
		trusted.Trusted = append(trusted.Trusted, key)
	}
	return trusted, problems
}

func readTrustedKey(given string, product getproviders.Product) (key getproviders.TrustedKey, err error) {
	path := given
	if text, file, ok := strings.Cut(given, "="); ok {
		pattern, err := product.ParsePattern(text)
		if err != nil {
			return key, err
		}
		path, key.Providers = file, []getproviders.Pattern{pattern}
		if id, err := hex.DecodeString(file); err == nil && len(id) == 8 { // a file with such a name is given as "./NAME"
			key.PartnerID = file
			return key, key.Check()
		}
	}
	content, err := wholefile.Read(path, maxKeyBytes)
	if err != nil {
		return key, err
	}
	key.Armored = string(content)
	if err := key.Check(); err != nil {
		return key, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// Single completes the options of a single source: a registry, or a mirror.
func (net Network) Single(product getproviders.Product, o cliconfig.SourceOptions) cliconfig.SourceOptions {
	o.Product, o.Network, o.User, o.Signers, o.OCIMirror = product, net.Network, net.User, net.Signers, net.OCIMirror
	return o
}

// Registries returns a client of module registries, which caches their answers in memory, and in the
// store if that isn't "".
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

// ModuleStore returns the directory of module packages that directories share, or "" if the user has no
// directory for caches.
func ModuleStore(m *cli.Meta) string {
	if m.CacheDir == "" {
		return ""
	}
	return filepath.Join(m.CacheDir, "modules", "v1")
}

// ownModuleStore returns ModuleStore, or "" if other users than this one and root can write to it, because they could
// replace modules.
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

// cacheDirVariable names the directory of the shared cache, if the CLI configuration
// doesn't.
const cacheDirVariable = "TFDEPS_CACHE_DIR"

// nameCache says how root gets a cache although the home that HOME names isn't used.
const nameCache = "name a directory of root's with the variable " + cacheDirVariable

// cacheLayout is the path of the cache below tfdeps' directory for caches. It
// has a number, so that a version with another layout can use the same directory.
const cacheLayout = "providers/v1"

// GCAfter is the default age after which cache gc removes an unused package.
const GCAfter = 30 * 24 * time.Hour

// cachePath returns the directory of the shared cache: the one that the user names for
// Terraform, else tfdeps' own. It returns "" if there is neither. named says that the user named it for Terraform.
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

// CacheNamedBy returns what names the directory of the shared cache: a variable, plugin_cache_dir of the CLI
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

// IsOwnCache reports whether the shared cache is the default one, which the user hasn't named.
func IsOwnCache(m *cli.Meta, config *cliconfig.Config) bool {
	return config.PluginCacheDir == "" && m.Env.Get(cacheDirVariable) == ""
}

// OpenCache returns the cache that working directories share, or nil if it can't be
// used. That is a warning if the user named the cache, or root has none because its home is another user's; else a line of the
// debug log.
func OpenCache(m *cli.Meta, config *cliconfig.Config) (*providercache.Store, problem.List) {
	dir, named := cachePath(m, config)
	if dir == "" && m.Withheld != "" {
		return nil, problem.Warn("cache_failed", "No shared cache is used",
			"No cache is kept in this user's home: %s.\n\nPackages are fetched for this directory alone. To share them, %s.", m.Withheld, nameCache)
	}

	cache, err := providercache.OpenCache(dir, named)
	if err != nil {
		if m.Log != nil {
			m.Log.Debug("no shared cache is used", "directory", dir, "reason", err)
		}
		if named || m.Env.Get(cacheDirVariable) != "" {
			return nil, problem.Warn("cache_failed", "The shared cache isn't used",
				"The cache that %s names can't be used: %v.\n\n"+
					"Packages are fetched for this directory alone. Correct the cache or its permissions, or name another one.",
				CacheNamedBy(m, config), err)
		}
		return nil, nil
	}
	return cache, nil
}

// Named returns the places, in the form of hosts.PlaceOf, that the user names: proxies, mirrors, and services of host blocks.
func Named(env cli.Environment, config *cliconfig.Config) (all []string) {
	for _, name := range proxyVariables {
		if proxy, err := ParseProxy(cmp.Or(env.Get(name), env.Get(strings.ToLower(name)))); err == nil {
			all = append(all, hosts.PlaceOf(proxy))
		}
	}
	for _, method := range config.Installation {
		location := method.Location
		if method.Kind == cliconfig.OCIMirror {
			location = "https://" + location
		}
		if u, err := url.Parse(location); err == nil && u.Host != "" {
			all = append(all, hosts.PlaceOf(u))
		}
	}
	for host, services := range config.Hosts {
		base := &url.URL{Scheme: "https", Host: host.ASCII()}
		for _, service := range services {
			if u, err := base.Parse(service); err == nil {
				all = append(all, hosts.PlaceOf(u))
			}
		}
	}
	return all
}

// proxyVariables name proxies. The variable in lower case is used if the one in capitals isn't set.
var proxyVariables = []string{"HTTPS_PROXY", "HTTP_PROXY"}

// CheckProxies finds proxy variables with invalid values. Requests ignore such a value, so that without
// a warning people would look for the mistake elsewhere.
func CheckProxies(env cli.Environment) (problems problem.List) {
	for _, name := range proxyVariables {
		for _, written := range []string{name, strings.ToLower(name)} {
			value := env.Get(written)
			if value == "" {
				continue
			}
			if _, err := ParseProxy(value); err != nil {
				problems = append(problems, problem.Errorf("invalid_variable", "Invalid value of "+written,
					"The variable %s has no URL of a proxy: it is ignored, or requests fail. Write it as http://HOST:PORT, with USER:PASSWORD@ before the host if the proxy wants a login.", written))
			}
			break // the first of the two counts
		}
	}
	return problems
}

// ParseProxy reads the value of a proxy variable, where the scheme may be left out.
func ParseProxy(value string) (*url.URL, error) {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		u, err = url.Parse("http://" + value)
	}
	if err == nil && u.Hostname() == "" {
		err = errors.New("it names no host")
	}
	return u, err
}

// CredentialsHelper returns the path of the credentials helper that the CLI configuration names, without
// starting it, or "" if it names none. The error is that of [cliconfig.User.FindHelper].
func CredentialsHelper(m *cli.Meta, config *cliconfig.Config) (string, error) {
	if config.Helper == nil {
		return "", nil
	}
	return user(m).FindHelper(config.Helper.Name)
}

// ConfigFiles returns the locations of the CLI configuration.
func ConfigFiles(m *cli.Meta, product getproviders.Product) cliconfig.Locations {
	return cliconfig.Find(user(m), product)
}

// NetrcFiles returns the paths of the netrc files, which have logins for packages.
func NetrcFiles(m *cli.Meta) []string { return hosts.NetrcFiles(m.Env.Get, m.HomeDir, runtime.GOOS) }
