package modules

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// Address is what the source argument of a module block means. It is one of
// [Local], [Registry] and [Remote], all of which can be compared. String returns the
// normalised form, as modules.json has it.
type Address interface {
	String() string
	address()
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

// Remote is a module in a package that is fetched from where the address says.
type Remote struct {
	Package string // "git::https://example.com/net.git?ref=v1"
	Subdir  string // below the package; "" is the package itself
}

func (Local) address()    {}
func (Registry) address() {}
func (Remote) address()   {}

// String implements [Address].
func (l Local) String() string { return string(l) }

// Package is the address without the subdirectory.
func (r Registry) Package() string {
	return strings.Join([]string{r.Host.String(), r.Namespace, r.Name, r.System}, "/")
}

// String implements [Address].
func (r Registry) String() string { return withSubdir(r.Package(), r.Subdir) }

// String implements [Address].
func (r Remote) String() string {
	base, query, found := strings.Cut(r.Package, "?")
	if !found {
		return withSubdir(base, r.Subdir)
	}
	return withSubdir(base, r.Subdir) + "?" + query
}

func withSubdir(base, subdir string) string {
	if subdir == "" {
		return base
	}
	return base + "//" + subdir
}

// ParseAddress reads a source address. What looks like a path relative to the
// module is one; what looks like a registry's address is one; the rest has to
// be a URL, or something that is commonly written for one, like
// "github.com/owner/repository". The product says which registry is meant where
// none is named.
func ParseAddress(source string, product getproviders.Product) (Address, error) {
	product = product.OrDefault()
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
	product = product.OrDefault()
	if isLocal(source) {
		return Registry{}, fmt.Errorf("%q is a local directory, and those have no versions", source)
	}
	return parseRegistry(source, product.DefaultHost)
}

// isLocal reports whether a source begins as paths relative to a module do.
func isLocal(source string) bool {
	for _, prefix := range []string{"./", "../", `.\`, `..\`} {
		if strings.HasPrefix(source, prefix) {
			return true
		}
	}
	return false
}

// parseLocal keeps the prefix, without which it would be no path.
func parseLocal(source string) Local {
	clean := path.Clean(strings.ReplaceAll(source, `\`, "/"))
	if !strings.HasPrefix(clean, "../") {
		clean = "./" + clean
	}
	return Local(clean)
}

// errOutside marks addresses of what isn't in their package.
var errOutside = errors.New("leads outside of the module package")

// parseComplete reads an address that names its registry if it is that of one, or
// of which only the kind matters.
func parseComplete(source string) (Address, error) {
	return ParseAddress(source, getproviders.Terraform(""))
}

// splitSubdir takes the subdirectory out of an address: what follows the first
// "//" that doesn't belong to a URL's scheme, up to a query.
func splitSubdir(source string) (pkg, subdir string, err error) {
	body, query := source, ""
	if i := strings.IndexByte(source, '?'); i >= 0 {
		body, query = source[:i], source[i:]
	}
	start := 0
	if i := strings.Index(body, "://"); i >= 0 {
		start = i + len("://")
	}
	i := strings.Index(body[start:], "//")
	if i < 0 {
		return source, "", nil
	}
	pkg, subdir = body[:start+i]+query, body[start+i+len("//"):]
	if subdir == "" {
		return pkg, "", nil
	}
	subdir = path.Clean(subdir)
	if subdir == ".." || strings.HasPrefix(subdir, "../") {
		return "", "", fmt.Errorf("the subdirectory %q %w", subdir, errOutside)
	}
	return pkg, subdir, nil
}
