package modules

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
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
	Served  Served
}

// Served is what a registry says of a package that it has itself, at a URL. Such an address is written down nowhere.
type Served struct {
	Here    bool           // the package is an archive of a kind that its content tells
	TokenOf hosts.Hostname // whose token goes along; "": none does
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

// check refuses an address that was put together by hand and is none: its parts
// become URLs and the names of directories.
func (r Registry) check() error {
	host, err := hosts.ParseHostname(r.Host.String())
	subdir := r.Subdir == "" || fs.ValidPath(r.Subdir)
	if err != nil || host != r.Host || !isName(r.Namespace) || !isName(r.Name) || !isSystem(r.System) || !subdir {
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

// errUnknownKind is that no rule says how to fetch a package.
var errUnknownKind = errors.New("the source address says nothing of how to get the module")

// parseRemote reads the address of a package. What stands before "::" says by
// which means it is to be fetched.
func parseRemote(source string) (Remote, error) {
	pkg, subdir, err := splitSubdir(source)
	if err != nil {
		return Remote{}, err
	}
	if pkg == "" {
		return Remote{}, errors.New("the source address is empty")
	}
	forced, location := SplitForced(pkg)
	if location == "" {
		return Remote{}, unknownKind(pkg)
	}
	if isURL(location) {
		return Remote{Package: pkg, Subdir: subdir}, nil
	}
	for _, detect := range detectors() {
		found, err := detect(location)
		if err != nil {
			return Remote{}, err
		}
		if found.Package == "" {
			continue
		}
		_, bare := SplitForced(found.Package)
		if again, _, _ := splitSubdir(bare); again != bare || !isURL(bare) {
			break // what was written for a URL has to become one
		}
		if forced != "" {
			found.Package = forced + "::" + bare
		}
		found.Subdir = path.Join(found.Subdir, subdir)
		if found.Subdir == ".." || strings.HasPrefix(found.Subdir, "../") {
			return Remote{}, fmt.Errorf("the subdirectory %q %w", found.Subdir, errOutside)
		}
		return found, nil
	}
	return Remote{}, unknownKind(location)
}

func isURL(location string) bool {
	u, err := url.Parse(location)
	return err == nil && u.Scheme != ""
}

// SplitForced cuts "git::" and the like off the address of a package.
func SplitForced(pkg string) (forced, location string) {
	before, after, found := strings.Cut(pkg, "::")
	if !found || before == "" || strings.Trim(before, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "", pkg
	}
	return before, after
}

func unknownKind(location string) error {
	return fmt.Errorf("%w: %q is neither a URL nor a registry's module. If it is a directory relative to this module, write \"./%[2]s\"",
		errUnknownKind, withoutLogin(location))
}
