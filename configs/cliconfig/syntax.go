package cliconfig

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// syntaxError says why a file can't be understood at all.
type syntaxError struct {
	line int
	text string
}

// maxDepth is far more nesting than any CLI configuration has. The HCL parser
// takes its time, and all of the stack, for thousands of levels.
const maxDepth = 100

// decode returns the object that a file is.
func decode(src []byte) (value, *syntaxError) {
	src = bytes.TrimPrefix(src, []byte("\ufeff")) // which editors on Windows put in front
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

// value is a part of a file, the same for both syntaxes. The labels of HCL
// blocks are levels of nesting, as they are in HCL 1: `host "x" {}` is
// host = { x = {} }.
type value struct {
	kind   kind
	line   int
	text   string  // of a string what it says, of a number and a bool how it was written
	list   []value // of a list
	object []field // of an object, in the order of the file; a name may occur repeatedly
}

type field struct {
	name  string
	line  int
	value value
	// How HCL wrote it, for blocks that are strict about that: the number of
	// labels, and whether there is an equals sign. Always zero in JSON.
	labels int
	equals bool
}

type kind int

const (
	isNull kind = iota
	isString
	isNumber
	isBool
	isList
	isObject
)

// String names the kind in messages.
func (k kind) String() string {
	return [...]string{"null", "a string", "a number", "a bool", "a list", "a map"}[k]
}

// is compares names as HCL 1 does.
func (f field) is(name string) bool { return strings.EqualFold(f.name, name) }

// blocks returns an object, or the objects of a list, which JSON uses for
// repeated blocks.
func (v value) blocks() ([]value, bool) {
	switch v.kind {
	case isObject:
		return []value{v}, true
	case isList:
		other := func(element value) bool { return element.kind != isObject }
		return v.list, !slices.ContainsFunc(v.list, other)
	default:
		return nil, false
	}
}

// fields returns the content of all blocks together.
func (v value) fields() ([]field, bool) {
	blocks, ok := v.blocks()
	if !ok {
		return nil, false
	}
	var all []field
	for _, block := range blocks {
		all = append(all, block.object...)
	}
	return all, true
}

// words returns what a string says, and a number as it was written, which HCL
// 1 takes for a string as well.
func (v value) words() (string, bool) {
	return v.text, v.kind == isString || v.kind == isNumber
}

// listOfWords returns the strings of a list that has nothing else.
func (v value) listOfWords() (all []string, ok bool) {
	for _, element := range v.list {
		text, ok := element.words()
		if !ok {
			return nil, false
		}
		all = append(all, text)
	}
	return all, v.kind == isList
}
