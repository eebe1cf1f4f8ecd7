package getproviders

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const digits = "0123456789"

// ParseVersion reads a version as registries, mirrors and lock files write it:
// one to three numbers with dots, missing ones being 0, then "-prerelease"
// and "+metadata". No "v" in front, no operator, no wildcard, no space.
// The form need not be canonical ("1.0", "01.0.0"); whoever demands that
// compares with String. A number that doesn't fit into 64 bits is an error.
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

// scanVersion reads a version from the start of s. It tells how many numbers
// were written and what is left of s. Marks with nothing behind them ("1.",
// "1.0.0-") are read over, as everywhere in the field.
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

// checkNumbers looks at what stands where a number should.
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

// scanIdentifiers reads dotted identifiers behind a mark.
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
