package getproviders

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Provider is the address of a provider, which identifies it everywhere. It is comparable and a
// good map key. Its parts are normalised: make one with [Product.ParseProvider], or from parts of
// [NormalizePart].
type Provider struct {
	Hostname  hosts.Hostname // of the origin registry, even where packages come from a mirror
	Namespace string
	Type      string
}

const (
	// defaultHost is the default host of Terraform.
	defaultHost = hosts.Hostname("registry.terraform.io")
	// builtInHost is the host in the addresses of built-in providers. It has no registry.
	builtInHost = hosts.Hostname("terraform.io")
)

const (
	builtInNamespace = "builtin"
	legacyNamespace  = "-" // of providers from before source addresses, in old states
	impliedNamespace = "hashicorp"
)

// String returns the full address, with the host in Unicode, as in lock files; "" for the zero
// Provider.
func (p Provider) String() string {
	if p == (Provider{}) {
		return ""
	}
	return p.Hostname.String() + "/" + p.Namespace + "/" + p.Type
}

// MarshalText returns String, so that addresses can be JSON strings and keys.
func (p Provider) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a text of MarshalText: a full address or nothing.
func (p *Provider) UnmarshalText(text []byte) (err error) {
	*p = Provider{}
	given := string(text)
	if given == "" {
		return nil
	}
	parts := strings.Split(given, "/")
	if len(parts) != 3 {
		return addressError("source string", fmt.Sprintf("The address %q must have the form \"hostname/namespace/type\".", given))
	}
	*p, err = parseParts(given, parts, Provider{}, true)
	return err
}

// parseParts normalises one to three parts, from the right; the other parts of the result are those of p. underscores says
// whether a namespace may have them, as in some products.
func parseParts(given string, parts []string, p Provider, underscores bool) (_ Provider, err error) {
	last := len(parts) - 1
	if p.Type, err = NormalizePart(parts[last]); err != nil {
		return Provider{}, partError("type", parts[last], given, err)
	}
	if last >= 1 {
		if p.Namespace, err = parseNamespace(parts[last-1]); err != nil {
			return Provider{}, partError("namespace", parts[last-1], given, err)
		}
		if _, err := NormalizePart(p.Namespace); err != nil && !underscores && p.Namespace != legacyNamespace {
			return Provider{}, partError("namespace", parts[last-1], given, err)
		}
	}
	if last >= 2 {
		if p.Hostname, err = hosts.ParseHostname(parts[0]); err != nil {
			return Provider{}, addressError("source hostname", fmt.Sprintf("In provider source %q: %v.", given, err))
		}
	}
	return p, nil
}

func partError(what, part, given string, err error) error {
	return addressError(what, fmt.Sprintf("The %s %q in provider source %q can't be used: %v.", what, part, given, err))
}

func parseNamespace(given string) (string, error) {
	if given == legacyNamespace {
		return given, nil
	}
	return normalizeNamespace(given)
}

// Compare orders addresses by host (punycode), namespace and type, each
// bytewise. This is the order of the lock file and of all output.
func (p Provider) Compare(o Provider) int {
	return cmp.Or(
		cmp.Compare(p.Hostname, o.Hostname),
		cmp.Compare(p.Namespace, o.Namespace),
		cmp.Compare(p.Type, o.Type),
	)
}

// IsBuiltIn reports whether the provider is part of the product (terraform.io/builtin): never
// installed, never locked. The product decides which types exist; Terraform has one, "terraform".
func (p Provider) IsBuiltIn() bool {
	return p.Hostname == builtInHost && p.Namespace == builtInNamespace
}

// IsLegacy reports whether the namespace is the legacy marker "-", which old states have if the
// address was unknown. Such a provider can be neither installed nor locked.
func (p Provider) IsLegacy() bool { return p.Namespace == legacyNamespace }

// Validate returns an error for an address that no parser returns, such as one made from parts that
// aren't normalised. Only a valid address may become a path or part of a URL. Built-in and legacy
// providers are valid.
func (p Provider) Validate() error {
	if err := p.Hostname.Validate(); err != nil {
		return addressError("source hostname", fmt.Sprintf("The hostname %q of a provider can't be used: %v.", string(p.Hostname), err))
	}
	if err := validatePart(p.Namespace, normalizeNamespace); err != nil && p.Namespace != legacyNamespace {
		return addressError("namespace", fmt.Sprintf("The namespace %q of a provider can't be used: %v.", p.Namespace, err))
	}
	if err := validatePart(p.Type, NormalizePart); err != nil {
		return addressError("type", fmt.Sprintf("The type %q of a provider can't be used: %v.", p.Type, err))
	}
	return nil
}

func validatePart(part string, normalize func(string) (string, error)) error {
	if isWord(part) && strings.ToLower(part) == part && len(part) <= 63 {
		return nil // fast path for nearly all parts
	}
	normal, err := normalize(part)
	if err == nil && normal != part {
		err = fmt.Errorf("it has to be written %q", normal)
	}
	return err
}

// NormalizePart normalises a namespace, a type or a provider's local name: letters of any script,
// digits and single dashes inside, by the rules for internationalised host names, which fold case
// ("ACME" is "acme") and compose accents. NormalizePart returns its own result unchanged, and the
// result is safe as the name of a directory.
func NormalizePart(given string) (string, error) { return normalizePart(given, idna.Lookup) }

// normalizeNamespace is NormalizePart for a namespace, which may also have underscores inside.
func normalizeNamespace(given string) (string, error) {
	if !strings.Contains(given, "_") {
		return NormalizePart(given)
	}
	part, err := normalizePart(given, idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(false)))
	isSign := func(r rune) bool {
		return r < utf8.RuneSelf && r != '_' && r != '-' && !('a' <= r && r <= 'z') && !('0' <= r && r <= '9')
	}
	if err == nil && (strings.Trim(given, "_") != given || strings.Trim(part, "_") != part || strings.ContainsFunc(part, isSign)) {
		err = errors.New("must contain only letters, digits, dashes and underscores, with letters or digits at both ends")
	}
	return part, err
}

func normalizePart(given string, profile *idna.Profile) (string, error) {
	if err := checkPart(given); err != nil {
		return "", err
	}
	part, err := profile.ToUnicode(given)
	if err == nil {
		// The result of the mapping may break the rules itself, on the direction of writing for
		// example. A lock file must be readable by the program that wrote it.
		_, err = profile.ToUnicode(part)
	}
	if err != nil || strings.ContainsRune(part, utf8.RuneError) {
		return "", errors.New("must contain only letters, digits and dashes, with no dash at either end")
	}
	// Check again: full stops and dashes of other scripts are ASCII now.
	if err := checkPart(part); err != nil {
		return "", err
	}
	return part, nil
}

func checkPart(part string) error {
	switch {
	case part == "":
		return errors.New("must have at least one character")
	case strings.Contains(part, "."):
		return errors.New("dots are not allowed")
	case strings.Contains(part, "--"):
		return errors.New("two dashes in a row are not allowed")
	}
	return nil
}

// addressError returns the error for a provider's source address. part is "source string", "source hostname", "namespace" or
// "type". detail is one or more sentences for people, with the given text.
func addressError(part, detail string) error {
	return &Fault{Code: "invalid_address", Subject: Subject{Part: part}, Err: errors.New(detail)}
}

// Platform is an operating system and an architecture, in Go's names. It is
// comparable and a good map key.
type Platform struct{ OS, Arch string }

// ParsePlatform reads "os_arch": two words of ASCII letters and digits. It doesn't check that such
// a platform exists.
func ParsePlatform(given string) (Platform, error) {
	os, arch, _ := strings.Cut(given, "_")
	if !isWord(os) || !isWord(arch) {
		return Platform{}, fmt.Errorf("%q is not an operating system with an architecture, such as \"linux_amd64\"", given)
	}
	return Platform{OS: os, Arch: arch}, nil
}

// Validate returns an error for a platform that ParsePlatform doesn't return, such as the zero
// Platform. Only a valid platform may become a path or part of a URL.
func (p Platform) Validate() error {
	_, err := ParsePlatform(p.String())
	return err
}

func isWord(s string) bool {
	for _, c := range []byte(s) {
		if !isAlphanumeric(c) {
			return false
		}
	}
	return s != ""
}

// CurrentPlatform is the platform that this program was built for.
func CurrentPlatform() Platform {
	return Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
}

// String returns "os_arch".
func (p Platform) String() string { return p.OS + "_" + p.Arch }

// MarshalText returns String, or nothing for the zero Platform, so that
// platforms can be JSON strings and keys.
func (p Platform) MarshalText() ([]byte, error) {
	if p == (Platform{}) {
		return nil, nil
	}
	return []byte(p.String()), nil
}

// UnmarshalText reads a text of MarshalText.
func (p *Platform) UnmarshalText(text []byte) (err error) {
	*p = Platform{}
	if len(text) > 0 {
		*p, err = ParsePlatform(string(text))
	}
	return err
}

// Compare orders platforms by their text.
func (p Platform) Compare(o Platform) int { return strings.Compare(p.String(), o.String()) }
