package cliconfig

import (
	"errors"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/hcl/ast"
	"github.com/hashicorp/hcl/hcl/parser"
	"github.com/hashicorp/hcl/hcl/token"
)

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

// unquoted replaces those messages of the parser that repeat what stands in the
// file: it may well be a token that lacks its quotes. Where programs may match on a message, it stays and is explained.
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

// fromItem makes a level of each key.
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
