package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// change is a change by a rule: text replaces the bytes from start to end.
type change struct {
	file, function, rule string
	line                 int
	start, end           int
	text                 string
	before, after        string // the original line, and the changed part after the change; as in explained.txt
	why                  string // why it may survive; "" if it may not
}

// The rules, in the order in which they take turns.
var ruleNames = []string{"negate", "drop", "swap", "bound"}

// dropping is appended to a file in which an error is dropped. The results of the call become
// the arguments of one of these functions.
const dropping = `
func drop0(error) error { return nil }
func drop1[A any](a A, _ error) (A, error) { return a, nil }
func drop2[A, B any](a A, b B, _ error) (A, B, error) { return a, b, nil }
func drop3[A, B, C any](a A, b B, c C, _ error) (A, B, C, error) { return a, b, c, nil }
`

// apply returns the source with the change made.
func (c change) apply(source []byte) []byte {
	changed := slices.Concat(source[:c.start], []byte(c.text), source[c.end:])
	if c.rule == "drop" {
		changed = append(changed, dropping...)
	}
	return changed
}

// key identifies a change, also after its file has changed elsewhere.
func (c change) key() string {
	return strings.Join([]string{c.file, c.function, c.before, c.rule, c.after}, "\x00")
}

// finder finds the changes that the rules can make in one file.
type finder struct {
	name   string
	source []byte
	file   *token.File
	info   *types.Info

	function string
	seen     map[ast.Expr]bool // expressions that are done
	found    []change
	times    map[string]int
}

// find returns all changes that the rules can make in a file, in its order.
func find(name string, source []byte, fset *token.FileSet, tree *ast.File, info *types.Info) []change {
	f := &finder{name: name, source: source, file: fset.File(tree.Pos()), info: info,
		seen: map[ast.Expr]bool{}, times: map[string]int{}}
	for _, decl := range tree.Decls {
		f.function = functionName(decl, source, fset)
		ast.Inspect(decl, f.visit)
	}
	return f.found
}

func (f *finder) offset(pos token.Pos) int { return f.file.Offset(pos) }

func (f *finder) text(n ast.Node) string {
	return string(f.source[f.offset(n.Pos()):f.offset(n.End())])
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		f.condition(n.Cond)
	case *ast.SwitchStmt:
		for _, clause := range n.Body.List {
			if n.Tag == nil {
				for _, cond := range clause.(*ast.CaseClause).List {
					f.condition(cond)
				}
			}
		}
	case *ast.BinaryExpr:
		if n.Op == token.LAND || n.Op == token.LOR {
			f.condition(n)
		}
		f.comparison(n)
	case *ast.SliceExpr:
		f.slice(n)
	case *ast.AssignStmt:
		if last, ok := n.Lhs[len(n.Lhs)-1].(*ast.Ident); ok && last.Name == "_" {
			f.seen[n.Rhs[len(n.Rhs)-1]] = true
		}
	case *ast.ExprStmt:
		f.seen[n.X] = true
	case *ast.DeferStmt:
		f.seen[n.Call] = true
	case *ast.CallExpr:
		f.drop(n)
		f.swap(n)
	}
	return true
}

// condition negates the parts of a condition, or the whole one if it has no parts. It skips err != nil, because
// with it negated no call would succeed, which every test notices; drop handles errors.
func (f *finder) condition(cond ast.Expr) {
	if cond == nil || f.seen[cond] {
		return
	}
	f.seen[cond] = true
	switch e := cond.(type) {
	case *ast.ParenExpr:
		f.condition(e.X)
		return
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			f.condition(e.X)
			f.condition(e.Y)
			return
		}
		if isError(f.info.TypeOf(e.X)) && f.info.Types[e.Y].IsNil() {
			return
		}
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			f.add("negate", e, f.text(e.X), f.text(e.X))
			return
		}
	}
	if f.info.Types[cond].Value == nil {
		text := "!(" + f.text(cond) + ")"
		f.add("negate", cond, text, text)
	}
}

// comparison moves a bound by one: < becomes <=.
func (f *finder) comparison(e *ast.BinaryExpr) {
	other, ok := map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}[e.Op]
	basic, numeric := f.info.TypeOf(e.X).Underlying().(*types.Basic)
	if ok && numeric && basic.Info()&types.IsNumeric != 0 {
		text := f.text(e.X) + " " + other + " " + f.text(e.Y)
		f.add("bound", e, text, text)
	}
}

// slice moves the bounds of a slice inwards.
func (f *finder) slice(e *ast.SliceExpr) {
	for i, bound := range []ast.Expr{e.Low, e.High} {
		if bound == nil {
			continue
		}
		text := "(" + f.text(bound) + ")" + []string{"+1", "-1"}[i]
		at, end := f.offset(bound.Pos())-f.offset(e.Pos()), f.offset(bound.End())-f.offset(e.Pos())
		f.add("bound", bound, text, f.text(e)[:at]+text+f.text(e)[end:])
	}
}

// drop ignores the error of a call, except of calls that make an error.
func (f *finder) drop(call *ast.CallExpr) {
	if f.seen[call] || f.isOf(call, "fmt", "errors") || !f.info.Types[call.Fun].IsValue() {
		return
	}
	others := 0
	last := f.info.TypeOf(call)
	if results, ok := last.(*types.Tuple); ok {
		if results.Len() == 0 {
			return
		}
		others = results.Len() - 1
		last = results.At(others).Type()
	}
	if isError(last) && others <= 3 {
		f.add("drop", call, "drop"+strconv.Itoa(others)+"("+f.text(call)+")", f.text(call))
	}
}

// symmetric are functions whose arguments may be swapped without effect.
var symmetric = []string{"min", "max", "bytes.Equal", "slices.Equal", "maps.Equal", "strings.EqualFold", "hmac.Equal",
	"subtle.ConstantTimeCompare", "os.SameFile", "reflect.DeepEqual"}

// swap swaps two arguments of the same type, except those of messages, which have their own tests.
func (f *finder) swap(call *ast.CallExpr) {
	if f.isOf(call, "fmt", "errors") || slices.Contains(symmetric, f.text(call.Fun)) {
		return
	}
	for i, a := range call.Args {
		for _, b := range call.Args[i+1:] {
			ta, tb := f.info.TypeOf(a), f.info.TypeOf(b)
			if ta == nil || tb == nil || !types.Identical(types.Default(ta), types.Default(tb)) || f.same(a, b) {
				continue
			}
			between := string(f.source[f.offset(a.End()):f.offset(b.Pos())])
			text := f.text(b) + between + f.text(a)
			whole := f.text(call)
			at := f.offset(call.Pos())
			f.addAt("swap", f.offset(a.Pos()), f.offset(b.End()), text, whole[:f.offset(a.Pos())-at]+text+whole[f.offset(b.End())-at:])
		}
	}
}

func (f *finder) same(a, b ast.Expr) bool {
	va, vb := f.info.Types[a].Value, f.info.Types[b].Value
	return f.text(a) == f.text(b) || va != nil && vb != nil && constant.Compare(va, token.EQL, vb)
}

// isOf reports whether a call is to a function of one of the packages.
func (f *finder) isOf(call *ast.CallExpr, packages ...string) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	used := f.info.Uses[selector.Sel]
	return used != nil && used.Pkg() != nil && slices.Contains(packages, used.Pkg().Path())
}

func isError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

func (f *finder) add(rule string, n ast.Node, text, after string) {
	f.addAt(rule, f.offset(n.Pos()), f.offset(n.End()), text, after)
}

func (f *finder) addAt(rule string, start, end int, text, after string) {
	from := bytes.LastIndexByte(f.source[:start], '\n') + 1
	before, _, _ := strings.Cut(string(f.source[from:]), "\n")
	c := change{file: f.name, function: f.function, rule: rule, line: f.file.Line(f.file.Pos(start)), start: start, end: end, text: text,
		before: strings.TrimSpace(before), after: strings.Join(strings.Fields(after), " ")}
	// The same line may be in a function twice.
	if f.times[c.key()]++; f.times[c.key()] > 1 {
		c.after += fmt.Sprintf(" (%d)", f.times[c.key()])
	}
	f.found = append(f.found, c)
}
