package cliconfig

import (
	"slices"
	"strings"
)

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
