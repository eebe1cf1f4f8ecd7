package hosts

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	svchost "github.com/hashicorp/terraform-svchost"
	"golang.org/x/net/idna"
)

// Hostname is a host in the form for comparisons: punycode, lower case, with the port if it isn't
// 443. It is comparable and a good map key.
//
// A Hostname comes from [ParseHostname], or is a constant in that form.
type Hostname string

// maxHostname is the longest name in DNS, in punycode and without a port.
const maxHostname = 253

// ParseHostname normalises a user's text ("Example.COM:443" is "example.com"). The port is decimal,
// and loses its leading zeros. Names with one label ("localhost") and IPv4 addresses are valid; a
// URL, an empty label and a label in punycode aren't: users must write Unicode, so that the name is
// what it looks like.
func ParseHostname(given string) (Hostname, error) {
	h, err := normalize(given)
	if err != nil {
		return "", fmt.Errorf("invalid hostname %q: %w", given, err)
	}
	return h, nil
}

// parseEncoded is ParseHostname for names that programs write, which may be in punycode.
func parseEncoded(given string) (Hostname, error) {
	name, err := Hostname(strings.ToLower(given)).display()
	if err != nil {
		return "", fmt.Errorf("invalid hostname %q: %w", given, err)
	}
	return ParseHostname(name)
}

// Validate returns an error for a Hostname that ParseHostname doesn't return. Such a name isn't
// safe as a directory name, or as a host in a URL.
func (h Hostname) Validate() error {
	if h.isPlain() {
		return nil
	}
	normal, err := normalize(h.String())
	switch {
	case err != nil:
		return fmt.Errorf("invalid hostname %q: %w", string(h), err)
	case normal != h:
		return fmt.Errorf("invalid hostname %q: it has to be written %q", string(h), string(normal))
	}
	return nil
}

// Rootless returns the name without a trailing dot before the port: "example.com." is "example.com"
// in DNS, but another host in configurations and lock files.
func (h Hostname) Rootless() Hostname {
	name, port, has := strings.Cut(string(h), ":")
	name = strings.TrimSuffix(name, ".")
	if has {
		name += ":" + port
	}
	return Hostname(name)
}

// isPlain is a fast check that nearly all names pass: labels of lower-case letters and digits,
// without a port.
func (h Hostname) isPlain() bool {
	length := 0
	for i := range len(h) {
		switch c := h[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			length++
		case c == '.' && length > 0:
			length = 0
		default:
			return false
		}
		if length > 63 {
			return false
		}
	}
	return length > 0 && len(h) <= maxHostname
}

func normalize(given string) (Hostname, error) {
	if _, port, has := strings.Cut(given, ":"); has && !isDecimal(port) {
		return "", portProblem(given)
	}
	if !utf8.ValidString(given) {
		return "", errors.New("not valid UTF-8")
	}
	// The library recognises punycode in lower case only, and would decode the rest: to a name that
	// can look like another host's.
	if lower := strings.ToLower(given); strings.HasPrefix(lower, "xn--") || strings.Contains(lower, ".xn--") {
		return "", errors.New("give the Unicode form of the name, not punycode")
	}
	compared, err := svchost.ForComparison(given)
	if err != nil {
		return "", err
	}
	h := Hostname(compared)
	// The library checks for empty labels before it maps other scripts' full stops to ".", and
	// accepts some names that it can't decode. A hostname becomes the name of a directory, which
	// can't be "..".
	name, _, _ := strings.Cut(string(h), ":")
	if len(strings.TrimSuffix(name, ".")) > maxHostname {
		return "", fmt.Errorf("it has more than %d characters", maxHostname)
	}
	if name == "" || strings.HasPrefix(name, ".") || strings.Contains(name, "..") {
		return "", errors.New("it has an empty label")
	}
	if _, err := h.display(); err != nil {
		return "", err
	}
	return h, nil
}

// portProblem returns the error for text without a decimal port after its first colon.
func portProblem(given string) error {
	switch scheme, _, _ := strings.Cut(given, ":"); strings.ToLower(scheme) {
	case "http", "https":
		return errors.New("give only the host and, if need be, a port; not a URL")
	}
	return errors.New("what follows the colon is not a decimal port number")
}

func isDecimal(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// String returns the form for people, lock files and directory names: Unicode.
func (h Hostname) String() string {
	unicode, err := h.display()
	if err != nil {
		return string(h) // not from ParseHostname
	}
	return unicode
}

// display decodes punycode. The profile is the one for displaying names, not for looking them up:
// it accepts all names of ParseHostname.
func (h Hostname) display() (string, error) {
	if !strings.Contains(string(h), "xn--") {
		return string(h), nil
	}
	name, port, hasPort := strings.Cut(string(h), ":")
	name, err := idna.Display.ToUnicode(name)
	if hasPort {
		name += ":" + port
	}
	return name, err
}

// ASCII returns the punycode form, for URLs and credentials helpers.
func (h Hostname) ASCII() string { return string(h) }
