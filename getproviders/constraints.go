package getproviders

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Constraints is a set of terms such as ">= 1.2, < 2.0" that a version must all satisfy. The zero
// value has no term and allows every release. Terms are in canonical order without duplicates, so
// that reflect.DeepEqual compares the meaning; compare two values by their String.
type Constraints struct{ terms []term }

// term is an operator and the version at its boundary.
type term struct {
	op       operator
	boundary Version // numbers that weren't written are 0
}

// operator compares a version with the boundary. The values are in the order in which terms with
// the same boundary are written.
type operator int

const (
	greater operator = iota
	greaterOrEqual
	exactly
	samePatchSeries // ~> 1.2.3: the last of three numbers may grow
	sameMajor       // ~> 1.2 and ~> 1: the minor number may grow, too
	lessOrEqual
	less
	except
)

// String returns the canonical spelling, which is "" for exactly.
func (op operator) String() string {
	return [...]string{">", ">=", "", "~>", "~>", "<=", "<", "!="}[op]
}

// String returns the canonical text, as lock files have it, or "" without terms. ParseConstraints
// reads it back to the same value.
func (c Constraints) String() string {
	texts := make([]string, len(c.terms))
	for i, t := range c.terms {
		texts[i] = t.String()
	}
	return strings.Join(texts, ", ")
}

func (t term) String() string {
	switch t.op {
	case exactly:
		return t.boundary.String()
	case sameMajor:
		return fmt.Sprintf("~> %d.%d", t.boundary.Major, t.boundary.Minor) + t.boundary.suffix()
	}
	return t.op.String() + " " + t.boundary.String()
}

// MarshalText returns String, so that constraints can be JSON strings.
func (c Constraints) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText is [ParseConstraints].
func (c *Constraints) UnmarshalText(text []byte) (err error) {
	*c, err = ParseConstraints(string(text))
	return err
}

// IsEmpty reports whether c has no term.
func (c Constraints) IsEmpty() bool { return len(c.terms) == 0 }

// And returns the terms of c and all others.
func (c Constraints) And(others ...Constraints) Constraints {
	terms := slices.Clone(c.terms)
	for _, o := range others {
		terms = append(terms, o.terms...)
	}
	slices.SortFunc(terms, func(a, b term) int {
		return cmp.Or(a.boundary.Compare(b.boundary), cmp.Compare(a.op, b.op))
	})
	return Constraints{slices.Compact(terms)}
}

// Allows reports whether v may be selected. A release must satisfy every term; a prerelease must
// also be named by an exact term. Comparisons are by precedence, but "exactly" and "except" compare
// the metadata, too. The zero Version is never allowed.
func (c Constraints) Allows(v Version) bool {
	named := v.Prerelease == ""
	for _, t := range c.terms {
		if !t.admits(v) {
			return false
		}
		named = named || t.op == exactly
	}
	return named && v != Version{}
}

// Excludes reports whether a term "!=" names v, or another build of it: metadata doesn't count here. Allows asks
// for the very build, as Terraform and OpenTofu do; a rule that keeps a version away asks both.
func (c Constraints) Excludes(v Version) bool {
	return slices.ContainsFunc(c.terms, func(t term) bool {
		return t.op == except && v.precedence(t.boundary) == 0
	})
}

// Nearest returns the versions nearest to those that are allowed: the newest release that is too
// old for some term, the oldest release that is too new for one, and the newest prerelease that
// would be allowed if it were named exactly. Each is zero if versions has no such version.
func (c Constraints) Nearest(versions []Version) (below, above, prerelease Version) {
	for _, v := range versions {
		if v.Prerelease != "" {
			release := v
			release.Prerelease, release.Metadata = "", ""
			if c.Allows(release) && (prerelease == Version{} || v.Compare(prerelease) > 0) {
				prerelease = v
			}
			continue
		}
		for _, t := range c.terms {
			old, order := t.op != except && !t.admits(v), v.precedence(t.boundary)
			if old && order <= 0 && t.op != less && (below == Version{} || v.Compare(below) > 0) {
				below = v
			}
			if old && order >= 0 && t.op != greater && (above == Version{} || v.Compare(above) < 0) {
				above = v
			}
		}
	}
	return below, above, prerelease
}

func (t term) admits(v Version) bool {
	order := v.precedence(t.boundary)
	switch t.op {
	case exactly:
		return v == t.boundary
	case except:
		return v != t.boundary
	case greater:
		return order > 0
	case greaterOrEqual:
		return order >= 0
	case less:
		return order < 0
	case lessOrEqual:
		return order <= 0
	}
	return order >= 0 && t.inSeries(v)
}

// inSeries reports whether v is below the end of the series that the boundary begins. A series at
// the largest number has no end.
func (t term) inSeries(v Version) bool {
	switch b := t.boundary; {
	case t.op == samePatchSeries && b.Minor < math.MaxUint64:
		return v.precedence(Version{Major: b.Major, Minor: b.Minor + 1}) < 0
	case b.Major < math.MaxUint64:
		return v.precedence(Version{Major: b.Major + 1}) < 0
	}
	return true
}

// Newest returns the newest allowed version. If several differ only in metadata, it returns the
// last in the order of Version.Compare, where Terraform and OpenTofu choose one at random. ok is
// false if no version is allowed.
func (c Constraints) Newest(versions []Version) (newest Version, ok bool) {
	for _, v := range versions {
		if c.Allows(v) && (!ok || v.Compare(newest) > 0) {
			newest, ok = v, true
		}
	}
	return newest, ok
}

// ParseConstraints reads a comma-separated list of terms by the strict rules for providers: an
// optional operator, at most one space, and a version of one to three numbers, without wildcards
// and without "v". Missing numbers are 0, so "1" means exactly 1.0.0; only "~>" depends on how many
// numbers were written. Blank text is no error and has no term. A comma may follow the last term.
//
// Configurations of modules have a more lenient syntax, which Terraform and OpenTofu check first.
// This one is what they accept for providers in the end, and in lock files.
func ParseConstraints(given string) (Constraints, error) {
	terms, err := parseTerms(strings.TrimSpace(given))
	if err != nil {
		return Constraints{}, fmt.Errorf("invalid version constraint %q: %w", given, err)
	}
	return Constraints{terms}.And(), nil
}

func parseTerms(list string) (terms []term, err error) {
	if list == "" {
		return nil, nil
	}
	for piece := range strings.SplitSeq(strings.TrimSuffix(list, ","), ",") {
		t, err := parseTerm(strings.TrimSpace(piece))
		if err != nil {
			return nil, err
		}
		terms = append(terms, t)
	}
	return terms, nil
}

func parseTerm(given string) (term, error) {
	if given == "" {
		return term{}, errors.New("there is nothing between two commas")
	}
	start := strings.IndexFunc(given, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSpace(r) || r == '*'
	})
	if start < 0 {
		start = len(given)
	}
	spelling, version := given[:start], strings.TrimPrefix(given[start:], " ")
	op, err := parseOperator(spelling)
	if err != nil {
		return term{}, err
	}
	if version != strings.TrimSpace(version) {
		return term{}, fmt.Errorf("there must be at most one space after %q", spelling)
	}
	boundary, numbers, rest, err := scanVersion(version)
	if err != nil {
		return term{}, fmt.Errorf("in %q: %w", given, err)
	}
	if rest != "" {
		return term{}, fmt.Errorf("%q can't follow %q; perhaps a comma is missing", rest, strings.TrimSuffix(given, rest))
	}
	if op == samePatchSeries && numbers < 3 {
		op = sameMajor
	}
	return term{op, boundary}, nil
}

// parseOperator returns samePatchSeries for "~>"; the caller changes it if fewer than three numbers
// follow.
func parseOperator(spelling string) (operator, error) {
	switch spelling {
	case "=":
		return exactly, nil
	case "=<":
		return 0, errors.New("unknown operator \"=<\"; \"<=\" is one")
	case "=>":
		return 0, errors.New("unknown operator \"=>\"; \">=\" is one")
	}
	for op := greater; op <= except; op++ {
		if op.String() == spelling {
			return op, nil
		}
	}
	return 0, fmt.Errorf("unknown operator %q", spelling)
}

// MustParseConstraints is ParseConstraints for constants; it panics on bad input.
func MustParseConstraints(given string) Constraints {
	c, err := ParseConstraints(given)
	if err != nil {
		panic(err)
	}
	return c
}
