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

// Address is a parsed source argument of a module block: a [Local], a [Registry] or a [Remote], all
// of which are comparable. String returns the normalised form, as in modules.json.
type Address interface {
	String() string
	shown() string // without secrets
}

// Local is a directory relative to the calling module's. It begins with "./" or "../", and its
// separators are slashes.
type Local string

// Registry is a module in a registry.
type Registry struct {
	Host                    hosts.Hostname
	Namespace, Name, System string
	Subdir                  string // below the module's package; "" means the package itself
}

func (l Local) shown() string    { return string(l) }
func (r Registry) shown() string { return r.String() }

// String implements [Address].
func (l Local) String() string { return string(l) }

// Package returns the address without the subdirectory.
func (r Registry) Package() string {
	return strings.Join([]string{r.Host.String(), r.Namespace, r.Name, r.System}, "/")
}

// String implements [Address].
func (r Registry) String() string { return withSubdir(r.Package(), r.Subdir) }

// ParseAddress reads a source address: a path relative to the module, a registry's address, a URL,
// or a common short form of a URL, such as "github.com/owner/repository". The product has the
// registry of addresses that name none.
func ParseAddress(source string, product getproviders.Product) (Address, error) {
	if isLocal(source) {
		return parseLocal(source), nil
	}

	registry, err := parseRegistry(source, product.DefaultHost)
	if err == nil {
		return registry, nil
	}
	if errors.Is(err, errOutside) {
		return nil, withoutSecrets(source, err)
	}

	remote, err := parseRemote(source)
	if err != nil {
		return nil, withoutSecrets(source, err)
	}
	return remote, nil
}

// ParseRegistry reads the source address of a call with a version, which only registries have.
func ParseRegistry(source string, product getproviders.Product) (Registry, error) {
	if isLocal(source) {
		return Registry{}, fmt.Errorf("%q is a local directory, and those have no versions", source)
	}
	registry, err := parseRegistry(source, product.DefaultHost)
	return registry, withoutSecrets(source, err)
}

// withoutSecrets replaces the error of an address that has a login, because its words may quote a part of that.
func withoutSecrets(source string, err error) error {
	switch {
	case err == nil, !hosts.AddressHasSecrets(source, Harmless...):
		return err
	case errors.Is(err, errOutside):
		return fmt.Errorf("%q %w", redact(source), errOutside)
	}
	return fmt.Errorf("%w: %q is neither a URL nor a registry's module. In the user and the password of a URL, "+
		"a space is written as %%20, / as %%2F, ? as %%3F, # as %%23, %% as %%25 and @ as %%40", errUnknownKind, redact(source))
}

// isLocal reports whether a source is a path relative to a module.
func isLocal(source string) bool {
	return slices.ContainsFunc([]string{"./", "../", `.\`, `..\`}, func(prefix string) bool { return strings.HasPrefix(source, prefix) })
}

// parseLocal cleans a path, but keeps its prefix, which makes it a path.
func parseLocal(source string) Local {
	clean := path.Clean(strings.ReplaceAll(source, `\`, "/"))
	if !strings.HasPrefix(clean, "../") {
		clean = "./" + clean
	}
	return Local(clean)
}

// parseComplete reads an address that names its registry, or of which only the kind matters.
func parseComplete(source string) (Address, error) {
	return ParseAddress(source, getproviders.Terraform(""))
}

// maxNameLength is the longest part of an address.
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
		return address, fmt.Errorf("the address of a registry's module has the form [HOST/]NAMESPACE/NAME/SYSTEM, and %q hasn't", redact(source))
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

// ErrAddress says that an address can't be a registry's module.
var ErrAddress = errors.New("this is not the address of a registry's module")

// check refuses an address with invalid parts, which a caller of Go code can make: the parts become
// URLs and names of directories.
func (r Registry) check() error {
	host, err := hosts.ParseHostname(r.Host.String())
	inside := strings.TrimPrefix(r.Subdir, "/") // "///sub" is "//sub", though it is recorded as it was written
	subdir := inside == "" || fs.ValidPath(inside)
	if err != nil || host != r.Host || !namePattern().MatchString(r.Namespace) || !namePattern().MatchString(r.Name) || !systemPattern().MatchString(r.System) || !subdir {
		return fmt.Errorf("%w: %q", ErrAddress, r)
	}
	return nil
}

// registryHost reads the host of an address. It refuses hosts of git repositories, and names
// without a dot.
func registryHost(given string) (hosts.Hostname, error) {
	if !strings.Contains(given, ".") {
		return "", fmt.Errorf("%q can't be the host of a module registry: it has no dot", given)
	}
	host, err := hosts.ParseHostname(given)
	if err != nil {
		return "", err
	}
	if host == "github.com" || host == "bitbucket.org" {
		return "", fmt.Errorf("%s is not a module registry", host)
	}
	return host, nil
}

// The patterns of an address's parts, with at most [maxNameLength] characters.
var (
	namePattern   = par.OnceRegexp(`^[0-9A-Za-z]([0-9A-Za-z_-]{0,62}[0-9A-Za-z])?$`)
	systemPattern = par.OnceRegexp(`^[0-9a-z]{1,64}$`)
)

// isForeign reports whether a module that the root configuration calls by this address is foreign:
// it comes from a registry, a repository, an archive or a web page. Its author could make private
// files be shown or committed, so it and the modules that it calls by a path can read no files of
// this machine outside their own package.
func isForeign(address Address) bool {
	switch address := address.(type) {
	case Local:
		return false
	case Remote:
		return !address.IsDirectory()
	}
	return true
}

// Redact returns a source address without a login, for messages. It also accepts invalid addresses.
// An address that can't have a login is returned unchanged.
func Redact(source string) string {
	address, err := parseComplete(source)
	if err != nil {
		return redact(source)
	}
	remote, isRemote := address.(Remote)
	if !isRemote { // no place for a login
		return source
	}

	shown := remote.shown()
	if shown == "file://"+source { // a path stays as the user wrote it
		return source
	}
	return shown
}
