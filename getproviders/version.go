package getproviders

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Version is the version of a provider. It is comparable and a good map key. The zero Version,
// 0.0.0, means "unknown", as in Terraform and OpenTofu: no constraint allows it.
type Version struct {
	Major, Minor, Patch uint64
	Prerelease          string // the part after "-": "beta.1"; "" for a release
	Metadata            string // the part after "+": distinguishes builds, doesn't affect precedence
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

// IsZero reports whether v is the zero value, which means a version that is unknown or not chosen yet.
func (v Version) IsZero() bool { return v == Version{} }

// Validate returns an error for a version that ParseVersion doesn't return, such as one with an
// invalid Prerelease. Only a valid version may become a path or part of a URL. The zero Version is
// valid.
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

// Compare orders by precedence, then by metadata (none first, then like prereleases), so that the
// order is total: versions that compare as 0 are equal.
func (v Version) Compare(o Version) int {
	return cmp.Or(v.precedence(o), compareIdentifiers(v.Metadata, o.Metadata))
}

// precedence compares versions without their build metadata.
func (v Version) precedence(o Version) int {
	return cmp.Or(
		cmp.Compare(v.Major, o.Major),
		cmp.Compare(v.Minor, o.Minor),
		cmp.Compare(v.Patch, o.Patch),
		comparePrereleases(v.Prerelease, o.Prerelease),
	)
}

// comparePrereleases orders a release after its prereleases.
func comparePrereleases(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(len(b), len(a))
	}
	return compareIdentifiers(a, b)
}

// compareIdentifiers compares dotted lists. Like Terraform and OpenTofu it differs from semantic
// versioning in one point: if only one list has identifiers left after the current ones, the shorter
// list is lower, whatever the current ones are ("beta" comes before "alpha.1").
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

// compareIdentifier orders numbers before words. It compares numbers by length first, so that no
// number is too large. The empty identifier counts as a number.
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

const digits = "0123456789"

// ParseVersion reads a version as registries, mirrors and lock files write it: one to three numbers
// with dots, missing ones being 0, then "-prerelease" and "+metadata", without a "v", operator,
// wildcard or space. The text needn't be canonical ("1.0", "01.0.0"); a caller that demands that
// compares it with String. A number that doesn't fit into 64 bits is an error.
func ParseVersion(given string) (Version, error) {
	v, err := parseVersion(given)
	if err != nil {
		return Version{}, fmt.Errorf("invalid version %q: %w", given, err)
	}
	return v, nil
}

func parseVersion(given string) (Version, error) {
	switch {
	case given != strings.TrimSpace(given):
		return Version{}, errors.New("there must be no space around it")
	case strings.Contains(given, ","):
		return Version{}, errors.New("one exact version is needed, not a list")
	case given != "" && strings.ContainsRune("=!<>~^", rune(given[0])):
		return Version{}, errors.New("an exact version is needed, without an operator")
	}
	v, _, rest, err := scanVersion(given)
	if err == nil && rest != "" {
		err = fmt.Errorf("unexpected %q", rest)
	}
	return v, err
}

// scanVersion reads a version from the start of s. It returns how many numbers were written and the
// rest of s. It accepts marks with nothing behind them ("1.", "1.0.0-"), as Terraform and OpenTofu
// do.
func scanVersion(s string) (v Version, numbers int, rest string, err error) {
	parts := []*uint64{&v.Major, &v.Minor, &v.Patch}
	for {
		number := s[:len(s)-len(strings.TrimLeft(s, digits))]
		if number == "" {
			return v, numbers, s, checkNumbers(numbers, s)
		}
		if numbers == len(parts) {
			return v, numbers, s, errors.New("too many numbers; there are three at most: major, minor and patch")
		}
		if *parts[numbers], err = strconv.ParseUint(number, 10, 64); err != nil {
			return v, numbers, s, fmt.Errorf("the number %.20s... is too large", number)
		}
		numbers++
		more := false
		if s, more = strings.CutPrefix(s[len(number):], "."); !more {
			break
		}
	}
	v.Prerelease, s = scanIdentifiers(s, "-")
	v.Metadata, s = scanIdentifiers(s, "+")
	return v, numbers, s, nil
}

// checkNumbers checks the text that follows in place of another number.
func checkNumbers(before int, s string) error {
	switch {
	case s != "" && strings.ContainsRune("*xX", rune(s[0])):
		return errors.New("wildcards are not allowed; leave out the numbers that may vary")
	case before > 0:
		return nil
	case s == "":
		return errors.New("there is no version")
	case s[0] == 'v' || s[0] == 'V':
		return errors.New("it must not begin with \"v\"")
	}
	return errors.New("it must be three numbers with dots between them, such as \"1.2.3\"")
}

// scanIdentifiers reads dotted identifiers after a mark.
func scanIdentifiers(s, mark string) (identifiers, rest string) {
	s, found := strings.CutPrefix(s, mark)
	if !found {
		return "", s
	}
	end := 0
	for end < len(s) && (s[end] == '.' || s[end] == '-' || isAlphanumeric(s[end])) {
		end++
	}
	return s[:end], s[end:]
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
