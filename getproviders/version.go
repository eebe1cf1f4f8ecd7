package getproviders

import (
	"cmp"
	"fmt"
	"strings"
)

// Version is the version of a provider. It is comparable and a good map key.
// The zero Version, 0.0.0, stands for "not known" in the field's tools: no
// constraint allows it.
type Version struct {
	Major, Minor, Patch uint64
	Prerelease          string // what follows "-": "beta.1"; "" for a release
	Metadata            string // what follows "+": tells builds apart, has no rank
}

// MustParseVersion is ParseVersion for constants; it panics on bad input.
func MustParseVersion(given string) Version {
	v, err := ParseVersion(given)
	if err != nil {
		panic(err)
	}
	return v
}

// String returns the canonical text: three numbers, prerelease, metadata.
func (v Version) String() string {
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) + v.suffix()
}

func (v Version) suffix() (s string) {
	if v.Prerelease != "" {
		s += "-" + v.Prerelease
	}
	if v.Metadata != "" {
		s += "+" + v.Metadata
	}
	return s
}

// Validate returns an error for a version that ParseVersion doesn't return, such as
// one whose prerelease was put together by hand. Only what is valid may become a path
// or part of a URL. The zero Version is valid.
func (v Version) Validate() error {
	for _, identifiers := range []string{v.Prerelease, v.Metadata} {
		if _, rest := scanIdentifiers("-"+identifiers, "-"); rest != "" {
			return fmt.Errorf("invalid version %q: unexpected %q", v, rest)
		}
	}
	return nil
}

// MarshalText returns String, so that versions can be JSON strings and keys.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText is [ParseVersion].
func (v *Version) UnmarshalText(text []byte) (err error) {
	*v, err = ParseVersion(string(text))
	return err
}

// Compare orders by precedence, then by metadata (none first, then like
// prereleases) so that the order is total: versions that compare as 0 are the
// same.
func (v Version) Compare(o Version) int {
	return cmp.Or(v.precedence(o), compareIdentifiers(v.Metadata, o.Metadata))
}

// precedence compares without regard to metadata.
func (v Version) precedence(o Version) int {
	return cmp.Or(
		cmp.Compare(v.Major, o.Major),
		cmp.Compare(v.Minor, o.Minor),
		cmp.Compare(v.Patch, o.Patch),
		comparePrereleases(v.Prerelease, o.Prerelease),
	)
}

// comparePrereleases puts a release behind its prereleases.
func comparePrereleases(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(len(b), len(a))
	}
	return compareIdentifiers(a, b)
}

// compareIdentifiers compares dotted lists. It follows the field's tools, which
// differ from semantic versioning in one point: as soon as one side is down to
// its last identifier and the other is not, the shorter list is the lower one,
// whatever those identifiers are ("beta" comes before "alpha.1").
func compareIdentifiers(a, b string) int {
	for {
		headA, restA, moreA := strings.Cut(a, ".")
		headB, restB, moreB := strings.Cut(b, ".")
		if moreA != moreB {
			if moreB {
				return -1
			}
			return 1
		}
		if c := compareIdentifier(headA, headB); c != 0 || !moreA {
			return c
		}
		a, b = restA, restB
	}
}

// compareIdentifier puts numbers before words. Numbers are compared by length
// first, so that no number is too large. The empty identifier counts as a
// number.
func compareIdentifier(a, b string) int {
	numberA, numberB := isDigits(a), isDigits(b)
	switch {
	case numberA && numberB:
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	case numberA:
		return -1
	case numberB:
		return 1
	}
	return strings.Compare(a, b)
}

func isDigits(s string) bool { return strings.Trim(s, digits) == "" }
