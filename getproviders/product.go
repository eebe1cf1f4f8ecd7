package getproviders

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Product is the program whose work is done. What differs between Terraform and OpenTofu is a field
// here, never a second code path. It is a value that is never changed; make one with [Terraform] or
// [OpenTofu]. The zero value is Terraform of an unknown version: functions that take a Product use
// its [Product.OrDefault].
type Product struct {
	Name        string         // "Terraform", for messages
	Program     string         // "terraform", for commands, the lock file's header and names in the CLI configuration
	Version     string         // the version that is reported, and compared with required_version
	DefaultHost hosts.Hostname // the host of addresses without a host

	// Predecessor is the product that this one was forked from and whose lock files, states and CLI
	// configurations it reads; nil if there is no such product.
	Predecessor *Product

	// NeedsKeys says that every registry must name the key that signed a package. Without it, OpenTofu's own registry
	// needn't: its packages are then authenticated by their checksum alone.
	NeedsKeys bool

	// NeedsUnexpired says that keys and signatures must not have expired. Without it, expired keys are accepted, and in OpenTofu
	// expired signatures, too.
	NeedsUnexpired bool
}

// Terraform describes Terraform at the given version.
func Terraform(version string) Product {
	return Product{
		Name:        "Terraform",
		Program:     "terraform",
		Version:     version,
		DefaultHost: defaultHost,
	}
}

// expiry says which expired keys and signatures the product accepts.
func (e Product) expiry() expiry {
	switch {
	case e.Predecessor == nil:
		return expiredKeys
	case e.NeedsUnexpired:
		return expiredNothing
	default:
		return expiredAll
	}
}

// IsSince reports whether the product has at least a version, such as "1.16". A version that can't be parsed counts as newer.
func (e Product) IsSince(version string) bool {
	v, err := ParseVersion(e.Version)
	return err != nil || v.Compare(MustParseVersion(version+".0-alpha")) >= 0
}

// OrDefault returns the product, or Terraform of the same version if all other fields are empty.
func (e Product) OrDefault() Product {
	if e.Name == "" && e.Program == "" && e.DefaultHost == "" {
		return Terraform(e.Version)
	}
	return e
}

// title returns the product's name and version, such as "Terraform 1.16.0", or its name if the version is unknown.
func (e Product) title() string {
	return strings.TrimSpace(e.OrDefault().Name + " " + e.Version)
}

// meantByURL returns a sentence for an address that is a URL, with the address that was probably
// meant. It returns "" if given is no URL.
func (e Product) meantByURL(given string) string {
	_, rest, isURL := strings.Cut(given, "://")
	if !isURL {
		return ""
	}
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	if len(parts) > 3 && parts[1] == "providers" {
		parts = append(parts[:1], parts[2:4]...)
	}
	if len(parts) != 3 {
		return " It is not a URL."
	}
	if parts[0] == e.DefaultHost.String() {
		parts = parts[1:]
	}
	meant := strings.Join(parts, "/")
	if _, err := e.ParseProvider(meant); err != nil {
		return " It is not a URL."
	}
	return fmt.Sprintf("\n\nIt is not a URL. Did you mean %q?", meant)
}

// ParseProvider reads an address "[hostname/][namespace/]type". Without a host it takes the
// product's default host; without a namespace it takes "hashicorp". Errors have the code
// "invalid_address".
//
// The result may be a built-in or a legacy provider; a caller that can't use those must check. The
// one-part address "terraform" is hashicorp/terraform and not the built-in provider.
func (e Product) ParseProvider(given string) (Provider, error) {
	e = e.OrDefault()
	parts := strings.Split(given, "/")
	if len(parts) > 3 || slices.Contains(parts, "") {
		return Provider{}, addressError("source string", fmt.Sprintf(
			"The provider source %q must have the form \"[hostname/][namespace/]name\".%s", given, e.meantByURL(given)))
	}
	p, err := parseParts(given, parts, Provider{Hostname: e.DefaultHost, Namespace: impliedNamespace}, e.Predecessor == nil && e.IsSince("1.16"))
	if err != nil {
		return Provider{}, err
	}
	if p.IsLegacy() && p.Hostname != e.DefaultHost {
		return Provider{}, addressError("namespace", fmt.Sprintf(
			"In provider source %q: the legacy namespace \"-\" exists only on %s.", given, e.DefaultHost))
	}
	if len(parts) == 1 {
		return p, nil // the rule on prefixes never applied to short addresses
	}
	if err := e.checkPrefix(p); err != nil {
		return Provider{}, err
	}
	return p, nil
}

// checkPrefix refuses types with the prefix of repositories and executables.
func (e Product) checkPrefix(p Provider) error {
	const redundant, repository = "terraform-", "terraform-provider-"
	if !strings.HasPrefix(p.Type, redundant) {
		return nil
	}
	short := p
	short.Type = strings.TrimPrefix(p.Type, repository)
	if short.Type != p.Type && short.Type != "" {
		return addressError("type", fmt.Sprintf(
			"The type in provider source %q starts with %q. That is how repositories and executables of providers are named; source addresses leave it out.\n\nDid you mean %q?",
			e.Short(p), repository, e.Short(short)))
	}
	return addressError("type", fmt.Sprintf(
		"The type in provider source %q starts with %q, which every provider's name would. If the provider is yours, give it a name without.",
		e.Short(p), redundant))
}

// ImpliedProvider returns the provider of a local name that required_providers doesn't list:
// "terraform" is the built-in provider, any other name is in the default host's namespace
// "hashicorp". Errors are those of [NormalizePart].
func (e Product) ImpliedProvider(localName string) (Provider, error) {
	e = e.OrDefault()
	name, err := NormalizePart(localName)
	if err != nil {
		return Provider{}, err
	}
	if name == "terraform" {
		return Provider{Hostname: builtInHost, Namespace: builtInNamespace, Type: name}, nil
	}
	return Provider{Hostname: e.DefaultHost, Namespace: impliedNamespace, Type: name}, nil
}

// Short returns the address as people write it: without the default host.
func (e Product) Short(p Provider) string {
	if p.Hostname == e.OrDefault().DefaultHost && p != (Provider{}) {
		return p.Namespace + "/" + p.Type
	}
	return p.String()
}

// openTofuHost is the default host of OpenTofu.
const openTofuHost = hosts.Hostname("registry.opentofu.org")

// OpenTofu describes OpenTofu at the given version. A version that can't be parsed counts as a new
// one.
func OpenTofu(version string) Product {
	predecessor := Terraform("")
	return Product{Name: "OpenTofu", Program: "tofu", Version: version, DefaultHost: openTofuHost, Predecessor: &predecessor}
}

// Inherits reports whether a full address is in the namespace "hashicorp" of the predecessor's
// default host, and returns the same provider on this product's host: lock files and states mean
// that one.
func (e Product) Inherits(p Provider) (own Provider, ok bool) {
	if e.Predecessor == nil || p.Hostname != e.Predecessor.DefaultHost || p.Namespace != impliedNamespace {
		return Provider{}, false
	}
	return Provider{Hostname: e.DefaultHost, Namespace: p.Namespace, Type: p.Type}, true
}

// expiry says which expired keys and signatures are accepted. Publishers extend or replace keys
// without signing old releases again.
type expiry int

const (
	expiredKeys    expiry = iota // expired keys are accepted, expired signatures aren't
	expiredAll                   // expired signatures are accepted, too; a key that hasn't expired is preferred
	expiredNothing               // neither is accepted
)
