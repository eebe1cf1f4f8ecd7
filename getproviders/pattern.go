package getproviders

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// wildcard matches any value in a part of a [Pattern].
const wildcard = "*"

// Pattern names a set of providers by their addresses, as "include" and "exclude" in a CLI
// configuration do: "hashicorp/aws", "example.com/*/*". It is comparable. Make one with
// [Product.ParsePattern], or with Pattern(p), which matches only the Provider p.
type Pattern struct {
	Hostname  hosts.Hostname // "*" for any host
	Namespace string         // "*" for any namespace
	Type      string         // "*" for any type
}

// ParsePattern reads "[hostname/]namespace/type". A part may be "*" only if all parts to the right
// of it are, too: a type in any namespace means nothing. Parts are normalised as in addresses.
func (e Product) ParsePattern(given string) (Pattern, error) {
	pattern, err := e.parsePattern(strings.Split(given, "/"))
	if err != nil {
		return Pattern{}, fmt.Errorf("invalid provider matching pattern %q: %w", given, err)
	}
	return pattern, nil
}

func (e Product) parsePattern(parts []string) (pattern Pattern, err error) {
	if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		return Pattern{}, errors.New("it must have the form \"[hostname/]namespace/type\"")
	}
	pattern.Hostname = e.DefaultHost
	if len(parts) == 3 {
		if pattern.Hostname, err = orWildcard(parts[0], hosts.ParseHostname); err != nil {
			return Pattern{}, err
		}
		parts = parts[1:]
	}
	if pattern.Namespace, err = orWildcard(parts[0], normalizeNamespace); err != nil {
		return Pattern{}, fmt.Errorf("the namespace %q can't be used: %w", parts[0], err)
	}
	if pattern.Type, err = orWildcard(parts[1], NormalizePart); err != nil {
		return Pattern{}, fmt.Errorf("the type %q can't be used: %w", parts[1], err)
	}
	if pattern.Namespace == wildcard && pattern.Type != wildcard {
		return Pattern{}, errors.New("if the namespace is \"*\", the type has to be \"*\" too")
	}
	if pattern.Hostname == wildcard && pattern.Namespace != wildcard {
		return Pattern{}, errors.New("if the hostname is \"*\", namespace and type have to be \"*\" too")
	}
	return pattern, nil
}

// orWildcard normalises a part, unless it is the wildcard.
func orWildcard[T ~string](given string, normalize func(string) (T, error)) (T, error) {
	if given == wildcard {
		return wildcard, nil
	}
	return normalize(given)
}

// Matches reports whether p is in the set.
func (m Pattern) Matches(p Provider) bool {
	return (m.Hostname == wildcard || m.Hostname == p.Hostname) &&
		(m.Namespace == wildcard || m.Namespace == p.Namespace) &&
		(m.Type == wildcard || m.Type == p.Type)
}

// Covers is Matches, but also accepts another spelling of the host: "example.com." is the host of
// "example.com". Matches doesn't, because Terraform doesn't. Covers is for rules that refuse
// providers.
func (m Pattern) Covers(p Provider) bool {
	m.Hostname, p.Hostname = m.Hostname.Rootless(), p.Hostname.Rootless()
	return m.Matches(p)
}

// String returns the pattern with its host in Unicode.
func (m Pattern) String() string {
	host := wildcard
	if m.Hostname != wildcard {
		host = m.Hostname.String()
	}
	return host + "/" + m.Namespace + "/" + m.Type
}

// matching returns the first pattern that matches.
func matching(patterns []Pattern, p Provider) (Pattern, bool) {
	i := slices.IndexFunc(patterns, func(m Pattern) bool { return m.Matches(p) })
	if i < 0 {
		return Pattern{}, false
	}
	return patterns[i], true
}
