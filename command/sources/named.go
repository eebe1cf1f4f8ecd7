package sources

import (
	"cmp"
	"errors"
	"net/url"
	"runtime"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

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

// CredentialsHelper returns the program of the credentials helper that the CLI configuration names, without
// starting it; "" if it names none. The error is that of hosts.FindHelper.
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
