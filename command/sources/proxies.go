package sources

import (
	"errors"
	"net/url"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
)

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
