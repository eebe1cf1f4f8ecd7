// Package sources makes, from the CLI configuration and the environment, what
// modules and packages of providers come from: the CLI configuration itself, HTTP
// clients with the user's credentials, the sources of providers, what installs
// modules, and the shared cache.
//
//	config, net, problems := sources.Online(m, product, "")
//	all, err := sources.Options{Network: net, Config: config, Product: product}.All(m)
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

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cliblock"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// ReadConfig reads the CLI configuration. Problems with it are errors: to install
// from elsewhere than it says, or with other credentials, would be worse than to
// install nothing.
func ReadConfig(m *cli.Meta, product getproviders.Product) (*cliconfig.Config, problem.List) {
	config, found := cliconfig.Read(ConfigFiles(m, product), m.Env.Get, product)
	var problems problem.List
	for _, p := range found {
		problems = append(problems, configProblem(p))
	}
	return config, problems
}

// configProblem says in words where the problem is. The lines themselves aren't
// shown, as those of other files are: they may hold tokens.
func configProblem(p cliconfig.Problem) *problem.Problem {
	detail := p.Detail
	switch {
	case p.Line > 0:
		detail += fmt.Sprintf("\n\nThis is about %s:%d.", p.File, p.Line)
	case !strings.Contains(detail, p.File):
		detail += fmt.Sprintf("\n\nThis is about %s.", p.File)
	}
	if p.Warning {
		return problem.Warning(p.Summary, detail)
	}
	return problem.Error(p.Summary, detail)
}

// ReattachVariable lists providers that run already.
const ReattachVariable = "TF_REATTACH_PROVIDERS"

// Skipped returns the providers that come by other means: their developers run
// them, from a directory of their own or started already.
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

// Network is how hosts are reached. A command has one for all that it asks for.
type Network struct {
	places.Hosts
	Policy Policy // of [Online] alone: the rules that count for the current directory
}

// Online reads the CLI configuration and the policy, to which the values of -policy belong, and makes the
// clients that it asks for; offlineBy is as for Connect. There is no network if there are errors.
func Online(m *cli.Meta, product getproviders.Product, offlineBy string, rulesGiven ...string) (*cliconfig.Config, Network, problem.List) {
	config, problems := ReadConfig(m, product)
	if problems = append(problems, CheckArchiveCredentials(m.Env)...); problems.HasErrors() {
		return config, Network{}, problems
	}
	net, unreached := Connect(m, product, config, offlineBy)
	rules, unruled := ReadPolicy(m, product, rulesGiven)
	rules.cache = config
	net.Policy = rules
	return config, net, slices.Concat(problems, unreached, unruled)
}

// Connect makes the clients. With offlineBy, which names what forbids requests,
// they refuse to send anything.
func Connect(m *cli.Meta, product getproviders.Product, config *cliconfig.Config, offlineBy string) (Network, problem.List) {
	o := cliconfig.NetworkOptions{User: user(m), SameHost: m.Env.Get(archiveCredentialsVariable) == "same-host", OfflineBy: offlineBy}
	if offlineBy == "" {
		var err error
		if o.Client, err = m.NewClient(hosts.ClientOptions{UserAgent: m.UserAgent(product), OnRetry: m.OnRetry()}); err != nil {
			return Network{}, problem.Fail("cli_configuration", "Can't make an HTTP client", "%v", err)
		}
		o.Client = keepDocuments(o.Client, m)
	}
	made, found := config.Network(o)
	var problems problem.List
	if offlineBy == "" {
		problems = problem.AsWarnings(CheckProxies(m.Env))
	}
	for _, p := range found {
		problems = append(problems, configProblem(p))
	}
	trusted, invalid := signers(m, product)
	return Network{Hosts: places.Hosts{Network: made, User: user(m), Signers: trusted, Logins: places.Logins(user(m), config.OCI)}}, append(problems, invalid...)
}

// Named are the places, as hosts.PlaceOf has them, that the user names: proxies, mirrors, and services of host blocks.
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

// user is whose files and variables count.
func user(m *cli.Meta) cliconfig.User {
	return cliconfig.User{Environ: m.Env, HomeDir: m.HomeDir, GOOS: runtime.GOOS}
}

// archiveCredentialsVariable, with the value "same-host", lets a registry's or a
// mirror's token go to packages that are on the same host.
const archiveCredentialsVariable = "TFDEPS_ARCHIVE_CREDENTIALS"

// CheckArchiveCredentials refuses unknown values of the variable.
func CheckArchiveCredentials(env cli.Environment) problem.List {
	given := env.Get(archiveCredentialsVariable)
	if given == "" || given == "same-host" {
		return nil
	}
	return problem.Fail("invalid_variable", "Invalid setting for credentials",
		"The value of %s is %q. The only one there is, besides none, is \"same-host\".", archiveCredentialsVariable, given)
}

// trustedKeysVariable lists files with public keys, and IDs of partners' keys.
const trustedKeysVariable = "TFDEPS_TRUSTED_KEYS"

// maxKeyBytes limits the size of a file with a public key.
const maxKeyBytes = 1 << 20

// signers says whose signatures count in mirrors: besides those that all users
// trust, the keys that this user names. Each is a file with an ASCII-armored
// public key, for all providers or, behind PATTERN=, for those that match; or, behind
// PATTERN=, the ID of a partner's key.
func signers(m *cli.Meta, product getproviders.Product) (trusted getproviders.Signers, problems problem.List) {
	trusted.Now = m.Now
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
		if id, err := hex.DecodeString(file); err == nil && len(id) == 8 { // a file of such a name is "./NAME"
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

// proxyVariables name proxies. Each also counts in lower case, if the one in capitals isn't set.
var proxyVariables = []string{"HTTPS_PROXY", "HTTP_PROXY"}

// CheckProxies finds variables with values that are no proxies. Requests don't go through what can't be
// read as a URL, so that without a word of it people would look for the mistake elsewhere.
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
