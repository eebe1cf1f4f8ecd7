package getproviders

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// ParseConstraints reads a comma-separated list of terms by the strict rules
// for providers: an operator or none, at most one space, and a version of one
// to three numbers, without wildcards and without "v". Missing numbers are 0,
// so "1" is 1.0.0 and no other; only "~>" looks at how many were written.
// Blank text has no term and is no error here, and a comma may stand at the
// end.
//
// Configurations of modules have a more lenient syntax, which the field's
// tools check first; this one is what they take for providers in the end, and
// in lock files.
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

// parseOperator takes "~>" for the one of its two meanings that three numbers
// have.
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
