package cliconfig

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// syntaxError says why a file can't be understood at all.
type syntaxError struct {
	line int
	text string
}

// Error implements error.
func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }

// maxDepth is far more nesting than any CLI configuration has. The HCL parser
// takes its time, and all of the stack, for thousands of levels.
const maxDepth = 100

// decode returns the object that a file is.
func decode(src []byte) (value, *syntaxError) {
	if err := checkDepth(src); err != nil {
		return value{}, err
	}
	if isJSON(src) {
		return decodeJSON(src)
	}
	return decodeHCL(src)
}

func isJSON(src []byte) bool {
	for len(src) > 0 {
		r, size := utf8.DecodeRune(src)
		if !unicode.IsSpace(r) {
			return r == '{'
		}
		src = src[size:]
	}
	return false
}

// checkDepth counts brackets wherever they stand, which is good enough for a
// limit that is far off.
func checkDepth(src []byte) *syntaxError {
	depth, line := 0, 1
	for _, b := range src {
		switch b {
		case '\n':
			line++
		case '{', '[':
			if depth++; depth > maxDepth {
				return &syntaxError{line, "blocks, maps and lists are nested too deeply"}
			}
		case '}', ']':
			depth = max(0, depth-1)
		}
	}
	return nil
}
