package cliconfig

import "strings"

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

// fields returns the content of an object, or of a list of objects, which
// JSON uses for repeated blocks.
func (v value) fields() ([]field, bool) {
	if v.kind == isObject {
		return v.object, true
	}
	if v.kind != isList {
		return nil, false
	}
	var all []field
	for _, element := range v.list {
		if element.kind != isObject {
			return nil, false
		}
		all = append(all, element.object...)
	}
	return all, true
}
