package modules

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
)

// Address is what the source argument of a module block means. It is one of
// [Local], [Registry] and [Remote], all of which can be compared. String returns the
// normalised form, as modules.json has it.
type Address interface {
	String() string
	shown() string // without secrets
}

// Local is a directory relative to that of the calling module. It begins with
// "./" or "../", and its separators are slashes.
type Local string

// Registry is a module that a registry knows.
type Registry struct {
	Host                    hosts.Hostname
	Namespace, Name, System string
	Subdir                  string // below the module's package; "" is the package itself
}

func (l Local) shown() string    { return string(l) }
func (r Registry) shown() string { return r.String() }

// String implements [Address].
func (l Local) String() string { return string(l) }

// Package is the address without the subdirectory.
func (r Registry) Package() string {
	return strings.Join([]string{r.Host.String(), r.Namespace, r.Name, r.System}, "/")
}

// String implements [Address].
func (r Registry) String() string { return withSubdir(r.Package(), r.Subdir) }

// ParseAddress reads a source address. What looks like a path relative to the
// module is one; what looks like a registry's address is one; the rest has to
// be a URL, or something that is commonly written for one, like
// "github.com/owner/repository". The product says which registry is meant where
// none is named.
func ParseAddress(source string, product getproviders.Product) (Address, error) {
	if isLocal(source) {
		return parseLocal(source), nil
	}
	registry, err := parseRegistry(source, product.DefaultHost)
	if err == nil {
		return registry, nil
	}
	if errors.Is(err, errOutside) {
		return nil, err
	}
	return parseRemote(source)
}

// ParseRegistry reads the source address of a call that asks for a version,
// for only registries have versions.
func ParseRegistry(source string, product getproviders.Product) (Registry, error) {
	if isLocal(source) {
		return Registry{}, fmt.Errorf("%q is a local directory, and those have no versions", source)
	}
	return parseRegistry(source, product.DefaultHost)
}

// isLocal reports whether a source begins as paths relative to a module do.
func isLocal(source string) bool {
	return slices.ContainsFunc([]string{"./", "../", `.\`, `..\`}, func(prefix string) bool { return strings.HasPrefix(source, prefix) })
}

// parseLocal keeps the prefix, without which it would be no path.
func parseLocal(source string) Local {
	clean := path.Clean(strings.ReplaceAll(source, `\`, "/"))
	if !strings.HasPrefix(clean, "../") {
		clean = "./" + clean
	}
	return Local(clean)
}

// parseComplete reads an address that names its registry if it is that of one, or
// of which only the kind matters.
func parseComplete(source string) (Address, error) {
	return ParseAddress(source, getproviders.Terraform(""))
}

// maxNameLength is that of each part of an address.
const maxNameLength = 64

// parseRegistry reads [host/]namespace/name/system[//subdir].
func parseRegistry(source string, defaultHost hosts.Hostname) (address Registry, err error) {
	pkg, subdir, err := splitSubdir(source)
	if err != nil {
		return address, err
	}
	parts := strings.Split(pkg, "/")
	address = Registry{Host: defaultHost, Subdir: subdir}
	if len(parts) == 4 {
		if address.Host, err = registryHost(parts[0]); err != nil {
			return address, err
		}
		parts = parts[1:]
	}
	if len(parts) != 3 {
		return address, fmt.Errorf("a registry's module has an address of the form [HOST/]NAMESPACE/NAME/SYSTEM, and %q has not", withoutLogin(source))
	}
	for i, what := range []string{"namespace", "module name"} {
		if !namePattern().MatchString(parts[i]) {
			return address, fmt.Errorf("%q can't be a %s: it has to be letters, digits, dashes and underscores, %d at most, with a letter or digit at both ends",
				parts[i], what, maxNameLength)
		}
	}
	if !systemPattern().MatchString(parts[2]) {
		return address, fmt.Errorf("%q can't be a target system: it has to be lower case letters and digits, %d at most", parts[2], maxNameLength)
	}
	address.Namespace, address.Name, address.System = parts[0], parts[1], parts[2]
	return address, nil
}

// ErrAddress says that what was asked about can't be a module of a registry.
var ErrAddress = errors.New("this is no address of a registry's module")

// check refuses an address that was put together by hand and is none: its parts
// become URLs and the names of directories.
func (r Registry) check() error {
	host, err := hosts.ParseHostname(r.Host.String())
	subdir := r.Subdir == "" || fs.ValidPath(r.Subdir)
	if err != nil || host != r.Host || !namePattern().MatchString(r.Namespace) || !namePattern().MatchString(r.Name) || !systemPattern().MatchString(r.System) || !subdir {
		return fmt.Errorf("%w: %q", ErrAddress, r)
	}
	return nil
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

// What the parts of an address are, of [maxNameLength] at most.
var (
	namePattern   = par.OnceRegexp(`^[0-9A-Za-z]([0-9A-Za-z_-]{0,62}[0-9A-Za-z])?$`)
	systemPattern = par.OnceRegexp(`^[0-9a-z]{1,64}$`)
)

// isForeign reports whether what a module in the root configuration calls by this
// address is foreign: it comes from a registry, a repository, an archive or a page.
// Its author could have private files shown or committed, so that it, and what it calls
// by a path, reaches nothing of this machine but its own package.
func isForeign(address Address) bool {
	switch address := address.(type) {
	case Local:
		return false
	case Remote:
		return !address.IsDirectory()
	}
	return true
}

// Redact returns a source address, or what was meant for one, as it may stand in
// messages: without a login. One that has no place for a login is as it was written.
func Redact(source string) string {
	address, err := parseComplete(source)
	if err != nil {
		return withoutLogin(source)
	}
	if remote, ok := address.(Remote); ok {
		return remote.shown()
	}
	return source // no place for a login
}
