package functions

import (
	"errors"
	"math/big"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// bounds refuses calls of functions whose results would be out of all proportion to their
// arguments, before they are computed.
type bounds struct{ bytes int }

var errTooLarge = errors.New("the result would be too large")

// bound refuses arguments for which size says that the result may be too large. It passes unknown
// and null arguments to the function.
func (b bounds) bound(f function.Function, size func(args []cty.Value) int) function.Function {
	return Guarded(f, func(args []cty.Value) error {
		plain := make([]cty.Value, len(args))
		for i, arg := range args {
			plain[i], _ = arg.UnmarkDeep()
			if !plain[i].IsWhollyKnown() || plain[i].IsNull() {
				return nil
			}
		}
		if size(plain) > b.bytes {
			return errTooLarge
		}
		return nil
	}, f.Call)
}

// Guarded returns f with a check of the arguments before f, and with call in place of f's implementation.
func Guarded(f function.Function, check func(args []cty.Value) error, call func(args []cty.Value) (cty.Value, error)) function.Function {
	return function.New(&function.Spec{
		Params:   f.Params(),
		VarParam: f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if err := check(args); err != nil {
				return cty.DynamicPseudoType, err
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return call(args) },
	})
}

// pairs refuses too many comparisons of all elements of one collection with all elements of
// another, or of the same.
func (b bounds) pairs(f function.Function) function.Function {
	return b.bound(f, func(args []cty.Value) int {
		count := elements(args[len(args)-1]) * elements(args[0])
		return count / 16 // a comparison takes a few nanoseconds
	})
}

// elements returns the number of a collection's elements; 0 for other values.
func elements(val cty.Value) int {
	if !val.CanIterateElements() {
		return 0
	}
	return val.LengthInt()
}

// Size returns about how many bytes a value has as text. It stops counting above limit.
func Size(val cty.Value, limit int) int {
	val, _ = val.Unmark()
	typ := val.Type()
	switch {
	case !val.IsKnown() || val.IsNull():
		return 1
	case typ == cty.String:
		return 1 + len(val.AsString())
	case typ == cty.Number:
		return 1 + numberSize(val.AsBigFloat(), limit)
	case !val.CanIterateElements():
		return 1
	}
	size := 1
	for it := val.ElementIterator(); it.Next() && size <= limit; {
		key, inner := it.Element()
		if key.Type() == cty.String {
			key, _ = key.Unmark()
			if key.IsKnown() && !key.IsNull() { // an element of a set is its own key
				size += len(key.AsString())
			}
		}
		size += Size(inner, limit-size)
	}
	return size
}

// numberSize returns the number of a number's digits, with leading or trailing zeros.
func numberSize(number *big.Float, limit int) int {
	if number.IsInf() {
		return limit
	}
	exponent := number.MantExp(nil)
	return int(number.MinPrec()/8) + max(exponent, -exponent)/4
}

// isWide reports whether a format has a verb whose width or precision has three digits, or is an
// argument.
func isWide(format string) bool {
	inVerb, digits := false, 0
	for _, r := range format {
		switch {
		case r == '%':
			inVerb, digits = true, 0
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			inVerb = false
		case !inVerb:
		case r == '*':
			return true
		case '0' <= r && r <= '9':
			if digits++; digits > 2 {
				return true
			}
		default:
			digits = 0
		}
	}
	return false
}

func (b bounds) formatSize(args []cty.Value) int {
	format := args[0].AsString()
	if isWide(format) {
		return b.bytes + 1
	}
	size := 0
	for _, arg := range args[1:] {
		size += 100 + Size(arg, b.bytes)
	}
	return len(format) + min(size, b.bytes)*strings.Count(format, "%")
}

func (b bounds) formatListSize(args []cty.Value) int {
	if args[0].Type() != cty.String {
		return 0 // the function returns an error
	}
	longest := 1
	for _, arg := range args[1:] {
		longest = max(longest, elements(arg))
	}
	return b.formatSize(args) + longest*len(args[0].AsString())
}

func (b bounds) indentSize(args []cty.Value) int {
	spaces, _ := args[0].AsBigFloat().Int64()
	if spaces < 0 || spaces > int64(b.bytes) {
		return b.bytes + 1
	}
	text := args[1].AsString()
	return len(text) + int(spaces)*strings.Count(text, "\n")
}

func (b bounds) joinSize(args []cty.Value) int {
	size := 0
	for _, list := range args[1:] {
		size += len(args[0].AsString())*elements(list) + Size(list, b.bytes)
	}
	return size
}

// productSize is the size of all combinations of the elements of sets or lists.
func (b bounds) productSize(args []cty.Value) int {
	count := 1
	for _, arg := range args {
		if count *= elements(arg); count > b.bytes {
			return count
		}
	}
	size := 0
	for _, arg := range args {
		if n := elements(arg); n > 0 {
			size += Size(arg, b.bytes) / n * count
		}
	}
	return size
}

// transposeSize counts each key once for each of its values.
func (b bounds) transposeSize(args []cty.Value) int {
	size := 0
	for it := args[0].ElementIterator(); it.Next() && size <= b.bytes; {
		key, list := it.Element()
		size += elements(list) * (1 + len(key.AsString()))
	}
	return size
}

// regexAllSize counts the matches, of which each byte may begin one.
func regexAllSize(args []cty.Value) int {
	groups := strings.Count(args[0].AsString(), "(")
	return len(args[1].AsString()) * (1 + groups)
}

// yamlSize grows with the number of aliases in a document, which repeat content, and with nesting on one line, for
// which the parser takes quadratic time.
func yamlSize(args []cty.Value) int {
	text := args[0].AsString()
	nested := strings.Count(text, "[") + strings.Count(text, "{")
	for _, pair := range []string{"- -", "- ?", "? -", "? ?"} {
		nested += 2 * strings.Count(text, pair)
	}
	return max(len(text)*(1+strings.Count(text, "*")), square(nested))
}

// parseIntSize grows with the time for parsing, which is quadratic in the number of digits.
func parseIntSize(args []cty.Value) int {
	if args[0].Type() != cty.String {
		return 0
	}
	return square(len(args[0].AsString()))
}

// square bounds a count whose processing takes quadratic time: with a limit of a megabyte, 10,000 is the most.
func square(count int) int { return count * count / 100 }

// Limits of file patterns: each "**" is matched against all directories, each alternative is combined with those of
// other braces.
const (
	maxDoubleStars  = 6
	maxBraces       = 20
	maxAlternatives = 1000
)

// isCheap reports whether matching a pattern of files takes little time.
func isCheap(pattern string) bool {
	product, commas := 1, []int{0}
	for _, c := range pattern {
		switch last := len(commas) - 1; {
		case c == '{':
			commas = append(commas, 0)
		case c == ',':
			commas[last]++
		case c == '}' && last > 0:
			product *= 1 + commas[last]
			commas = commas[:last]
		}
		if product > maxAlternatives {
			return false
		}
	}
	return strings.Count(pattern, "{") <= maxBraces && strings.Count(pattern, "**") <= maxDoubleStars
}

// replaceSize is the size of the text and all replacements. A reference to a group may insert the whole text.
func (b bounds) replaceSize(args []cty.Value) int {
	text, old, replacement := args[0].AsString(), args[1].AsString(), args[2].AsString()
	places, longest := strings.Count(text, old), len(replacement)
	if pattern, ok := isPattern(old); ok {
		expr, err := regexp.Compile(pattern)
		if err != nil {
			return 0 // the function returns an error
		}
		places, longest = len(expr.FindAllStringIndex(text, -1)), longest+strings.Count(replacement, "$")*len(text)
	}
	return len(text) + places*longest
}

// isPattern returns the regular expression between two slashes.
func isPattern(text string) (pattern string, ok bool) {
	pattern, begins := strings.CutPrefix(text, "/")
	pattern, ends := strings.CutSuffix(pattern, "/")
	return pattern, begins && ends
}

// replace replaces a substring, or the matches of a regular expression.
var replace = returning(cty.String, func(args []cty.Value) (cty.Value, error) {
	if pattern, ok := isPattern(args[1].AsString()); ok {
		return stdlib.RegexReplace(args[0], cty.StringVal(pattern), args[2])
	}
	return stdlib.Replace(args[0], args[1], args[2])
}, param("str", cty.String), param("substr", cty.String), param("replace", cty.String))
