package cliconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/hcl/ast"
	"github.com/hashicorp/hcl/hcl/parser"
	"github.com/hashicorp/hcl/hcl/token"
)

// syntaxError is the reason why a file can't be parsed.
type syntaxError struct {
	line int
	text string
}

// maxDepth is far more nesting than any CLI configuration has. The HCL parser takes long and
// overflows the stack for thousands of levels.
const maxDepth = 100

// decode returns the file's top-level object.
func decode(src []byte) (value, *syntaxError) {
	src = bytes.TrimPrefix(src, []byte("\ufeff")) // a BOM, which editors on Windows write
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

// checkDepth counts brackets, even in strings and comments, which is good enough for such a high
// limit.
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

// value is a part of a file in either syntax. As in HCL 1, the labels of blocks are levels of
// nesting: `host "x" {}` is host = { x = {} }.
type value struct {
	kind   kind
	line   int
	text   string  // of a string its value, of a number and a bool its spelling
	list   []value // of a list
	object []field // of an object, in the order of the file; names may repeat
}

type field struct {
	name  string
	line  int
	value value
	// The HCL spelling, for blocks that are strict about it: the number of labels, and whether the
	// field has an equals sign. Always zero in JSON.
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

// repeated returns an error if an object sets an argument twice. JSON has no arguments in this sense.
func (v value) repeated() *syntaxError {
	set := map[string]bool{}
	for _, f := range v.object {
		if f.equals && set[f.name] {
			return &syntaxError{f.line, fmt.Sprintf("the argument %q is set already, and each argument can be set once only", f.name)}
		}
		set[f.name] = set[f.name] || f.equals

		err := f.value.repeated()
		if err != nil {
			return err
		}
	}
	for _, element := range v.list {
		err := element.repeated()
		if err != nil {
			return err
		}
	}
	return nil
}

// blocks returns an object, or the objects of a list, which is JSON's form of repeated blocks.
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

// words returns a string, or the spelling of a number, which HCL 1 also accepts as a string.
func (v value) words() (string, bool) {
	return v.text, v.kind == isString || v.kind == isNumber
}

// listOfWords returns the elements of a list that has strings only.
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

// decodeHCL reads HCL 1.
func decodeHCL(src []byte) (value, *syntaxError) {
	file, err := parser.Parse(src)
	if err != nil {
		return value{}, hclSyntaxError(err)
	}
	return fromNode(file.Node)
}

func hclSyntaxError(err error) *syntaxError {
	if at, ok := errors.AsType[*parser.PosError](err); ok {
		return &syntaxError{at.Pos.Line, unquoted(at.Err.Error())}
	}
	return &syntaxError{0, unquoted(err.Error())}
}

// unquoted replaces the parser's messages that repeat text of the file, because it may be a token without quotes. It
// keeps and explains messages that programs may match.
func unquoted(text string) string {
	switch {
	case strings.Contains(text, "Unknown token: "):
		return "there is a bare word or a sign where a value is expected; strings need quotes"
	case strings.Contains(text, "expected start of object"):
		return "a key is followed by neither \"=\" nor \"{\""
	case strings.Contains(text, "expected closing RBRACE got: EOF"):
		return text + " (a block isn't closed: a } is missing)"
	default:
		return text
	}
}

func fromNode(node ast.Node) (value, *syntaxError) {
	switch n := node.(type) {
	case *ast.ObjectList:
		return fromItems(n, 1)
	case *ast.ObjectType:
		return fromItems(n.List, n.Lbrace.Line)
	case *ast.ListType:
		return fromList(n)
	case *ast.LiteralType:
		return fromToken(n.Token)
	default:
		return value{}, nil
	}
}

func fromItems(items *ast.ObjectList, line int) (value, *syntaxError) {
	object := value{kind: isObject, line: line}
	for _, item := range items.Items {
		if len(item.Keys) == 0 {
			continue
		}
		f, err := fromItem(item.Keys, item.Val)
		if err != nil {
			return value{}, err
		}
		f.labels, f.equals = len(item.Keys)-1, item.Assign.IsValid()
		object.object = append(object.object, f)
	}
	return object, nil
}

// fromItem returns one level of nesting for each key.
func fromItem(keys []*ast.ObjectKey, node ast.Node) (field, *syntaxError) {
	name, err := fromToken(keys[0].Token)
	if err != nil {
		return field{}, err
	}
	f := field{name: name.text, line: name.line}
	if len(keys) == 1 {
		f.value, err = fromNode(node)
		return f, err
	}
	inner, err := fromItem(keys[1:], node)
	f.value = value{kind: isObject, line: name.line, object: []field{inner}}
	return f, err
}

func fromList(list *ast.ListType) (value, *syntaxError) {
	v := value{kind: isList, line: list.Lbrack.Line}
	for _, node := range list.List {
		element, err := fromNode(node)
		if err != nil {
			return value{}, err
		}
		v.list = append(v.list, element)
	}
	return v, nil
}

func fromToken(t token.Token) (value, *syntaxError) {
	v := value{kind: isString, line: t.Pos.Line, text: t.Text}
	switch t.Type {
	case token.NUMBER, token.FLOAT:
		v.kind = isNumber
	case token.BOOL:
		v.kind = isBool
	case token.STRING:
		text, err := strconv.Unquote(t.Text)
		if err != nil {
			return value{}, &syntaxError{t.Pos.Line, "invalid string: " + err.Error()}
		}
		v.text = text
	case token.HEREDOC:
		v.text, _ = t.Value().(string)
	}
	return v, nil
}

// decodeJSON reads the JSON form. Unlike json.Unmarshal it keeps repeated names and line numbers.
func decodeJSON(src []byte) (value, *syntaxError) {
	r := &jsonReader{src: src, dec: json.NewDecoder(bytes.NewReader(src))}
	r.dec.UseNumber()
	v, err := r.value()
	if err == nil {
		if _, rest := r.dec.Token(); rest == nil || !errors.Is(rest, io.EOF) {
			err = errors.New("there is something after the end of the JSON object")
		}
	}
	if err != nil {
		return value{}, r.explain(err)
	}
	return v, nil
}

type jsonReader struct {
	src     []byte
	dec     *json.Decoder
	counted int64 // bytes whose line breaks have been counted
	breaks  int
}

// line returns the line in which the last token started and ended: no token of JSON has a line
// break.
func (r *jsonReader) line() int {
	at := r.dec.InputOffset()
	r.breaks += bytes.Count(r.src[r.counted:at], []byte("\n"))
	r.counted = at
	return 1 + r.breaks
}

func lineAt(src []byte, offset int64) int {
	return 1 + bytes.Count(src[:min(max(offset, 0), int64(len(src)))], []byte("\n"))
}

func (r *jsonReader) explain(err error) *syntaxError {
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		at, read := s.Offset, r.dec.InputOffset()
		if at != read { // the offset is relative to the value
			at += read
		}
		return &syntaxError{lineAt(r.src, at), "invalid JSON: " + s.Error()}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &syntaxError{lineAt(r.src, int64(len(r.src))), "invalid JSON: it ends too early"}
	}
	return &syntaxError{r.line(), "invalid JSON: " + err.Error()}
}

func (r *jsonReader) value() (value, error) {
	t, err := r.dec.Token()
	if err != nil {
		return value{}, err
	}
	v := value{line: r.line()}
	switch t := t.(type) {
	case string:
		v.kind, v.text = isString, t
	case json.Number:
		v.kind, v.text = isNumber, t.String()
	case bool:
		v.kind, v.text = isBool, fmt.Sprint(t)
	case json.Delim:
		return r.nested(v, t)
	}
	return v, nil
}

// nested reads an object or a list after its first bracket.
func (r *jsonReader) nested(v value, open json.Delim) (value, error) {
	v.kind = isList
	if open == '{' {
		v.kind = isObject
	}
	for r.dec.More() {
		if v.kind == isObject {
			f, err := r.field()
			if err != nil {
				return value{}, err
			}
			v.object = append(v.object, f)
			continue
		}
		element, err := r.value()
		if err != nil {
			return value{}, err
		}
		v.list = append(v.list, element)
	}
	_, err := r.dec.Token()
	return v, err
}

func (r *jsonReader) field() (field, error) {
	name, err := r.value()
	if err != nil {
		return field{}, err
	}
	v, err := r.value()
	return field{name: name.text, line: name.line, value: v}, err
}
