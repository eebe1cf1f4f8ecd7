package modules

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// maxNameLength is that of each part of an address.
const maxNameLength = 64

// parseRegistry reads [host/]namespace/name/system[//subdir].
func parseRegistry(source string, defaultHost hosts.Hostname) (Registry, error) {
	pkg, subdir, err := splitSubdir(source)
	if err != nil {
		return Registry{}, err
	}
	parts := strings.Split(pkg, "/")
	address := Registry{Host: defaultHost, Subdir: subdir}
	if len(parts) == 4 {
		if address.Host, err = registryHost(parts[0]); err != nil {
			return Registry{}, err
		}
		parts = parts[1:]
	}
	if len(parts) != 3 {
		return Registry{}, fmt.Errorf("a registry's module has an address of the form [HOST/]NAMESPACE/NAME/SYSTEM, and %q has not", withoutLogin(source))
	}
	for i, what := range []string{"namespace", "module name"} {
		if !isName(parts[i]) {
			return Registry{}, fmt.Errorf("%q can't be a %s: it has to be letters, digits, dashes and underscores, %d at most, with a letter or digit at both ends",
				parts[i], what, maxNameLength)
		}
	}
	if !isSystem(parts[2]) {
		return Registry{}, fmt.Errorf("%q can't be a target system: it has to be lower case letters and digits, %d at most", parts[2], maxNameLength)
	}
	address.Namespace, address.Name, address.System = parts[0], parts[1], parts[2]
	return address, nil
}

// registryHost reads the host of an address. Hosts that begin common addresses
// of repositories are no registries, and neither is a name without a dot.
func registryHost(given string) (hosts.Hostname, error) {
	if !strings.Contains(given, ".") {
		return "", fmt.Errorf("%q can't be the host of a module registry: it has no dot", given)
	}
	host, err := hosts.ParseHostname(given)
	if err != nil {
		return "", err
	}
	if host == "github.com" || host == "bitbucket.org" {
		return "", fmt.Errorf("%s is no module registry", host)
	}
	return host, nil
}

func isName(s string) bool {
	if s == "" || len(s) > maxNameLength {
		return false
	}
	isAlnum := func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
	for i := range len(s) {
		if !isAlnum(s[i]) && s[i] != '-' && s[i] != '_' {
			return false
		}
	}
	return isAlnum(s[0]) && isAlnum(s[len(s)-1])
}

func isSystem(s string) bool {
	return s != "" && len(s) <= maxNameLength && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}
