package getproviders

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Fallback says what a MultiSource does where a source doesn't serve.
//
// Whatever it says, a source that answers and lacks what it was asked for is
// no failure: the next one that is for the provider is asked. To keep the next
// one from serving a provider, use patterns, or Exclusive.
type Fallback int

const (
	// StopOnFailure ends a query at the first source that fails: going on
	// would quietly install something else than on a day when it works.
	StopOnFailure Fallback = iota
	// NextOnFailure takes a source that fails for one that lacks what it was
	// asked for, and says so.
	NextOnFailure
	// Exclusive is StopOnFailure, and asks a registry for nothing that any
	// mirror is for, even if no mirror has it.
	Exclusive
)

var fallbackNames = [...]string{StopOnFailure: "stop", NextOnFailure: "next", Exclusive: "exclusive"}

// ParseFallback reads "stop", "next" or "exclusive".
func ParseFallback(given string) (Fallback, error) {
	for f, name := range fallbackNames {
		if given == name {
			return Fallback(f), nil
		}
	}
	return StopOnFailure, fmt.Errorf("invalid fallback %q: must be one of %s", given, strings.Join(fallbackNames[:], ", "))
}

// String returns what ParseFallback reads.
func (f Fallback) String() string {
	if f < 0 || int(f) >= len(fallbackNames) {
		return fmt.Sprintf("Fallback(%d)", int(f))
	}
	return fallbackNames[f]
}

// ends reports whether an error ends a query. A protocol that the product
// doesn't speak does so always: it is a fact about the version, whoever has it.
func (m MultiSource) ends(ctx context.Context, err error) bool {
	switch {
	case ctx.Err() != nil, errors.Is(err, ErrProtocol):
		return true
	case lacking(err):
		return false
	default:
		return m.Fallback != NextOnFailure
	}
}

// lacking reports whether an error means that a source is fine, but doesn't
// have what it was asked for.
func lacking(err error) bool {
	return errors.Is(err, ErrProviderNotFound) || errors.Is(err, ErrVersionNotFound) || errors.Is(err, ErrPlatformMissing)
}

// excluded says why a source isn't asked for p; "" if it is.
func (m MultiSource) excluded(s Selector, p Provider) string {
	if why := s.excluded(p); why != "" || !s.IsRegistry || m.Fallback != Exclusive {
		return why
	}
	for _, other := range m.Selectors {
		if !other.IsRegistry && other.excluded(p) == "" {
			return "kept out, because mirrors are exclusive and there is one for this provider: " + other.Source.Describe(p)
		}
	}
	return ""
}

// excluded says which patterns of the selector aren't for p; "" if all are.
func (s Selector) excluded(p Provider) string {
	if pattern, excluded := matching(s.Exclude, p); excluded {
		return "excluded by " + quoteAll([]Pattern{pattern})
	}
	if _, included := matching(s.Include, p); !included && len(s.Include) > 0 {
		return "not included by " + quoteAll(s.Include)
	}
	return ""
}

// quotedPatterns is how many patterns a message repeats. Lists that programs
// write may be long.
const quotedPatterns = 10

func quoteAll(patterns []Pattern) string {
	var quoted []string
	for i, pattern := range patterns {
		if i == quotedPatterns {
			quoted = append(quoted, fmt.Sprintf("and %d more", len(patterns)-i))
			break
		}
		quoted = append(quoted, fmt.Sprintf("%q", pattern.String()))
	}
	return strings.Join(quoted, ", ")
}
