package static

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/tfdeps/tfdeps/configs/internal/diagnostic"
)

// Scope is what the source of a module may refer to: constant input variables,
// local values, and paths. Everything in it is computed when it is first asked
// for, and once. Make one with [NewScope], hand it what the files declare with
// Add and Override, and call Prepare before anything is computed. It is for one
// goroutine.
type Scope struct {
	root      bool
	static    bool // all variables are constant
	variables map[string]*Variable
	locals    map[string]*hcl.Attribute
	inputs    map[string]cty.Value
	paths     map[string]cty.Value // of "path"; what isn't known is left out

	functions    map[string]function.Function // nil: not needed so far
	known        map[reference]result
	depth        int
	HasConstants bool // whether there is a constant variable
}

// reference is a step from one of the names that a scope has to what is below.
type reference struct{ root, name string }

// result is what became of computing something: a value, which is unknown if
// there is a problem. It can be unknown without one, where it depends on what
// only a plan knows.
type result struct {
	val     cty.Value
	problem *hcl.Diagnostic
}

var unknown = result{val: cty.DynamicVal}

func failed(at hcl.Range, summary, format string, args ...any) result {
	return result{cty.DynamicVal, diagnostic.Error(at, summary, format, args...)}
}

// maxLocals bounds chains of local values, each referring to the next one.
const maxLocals = 1000

// Paths says where the module of a scope is.
type Paths struct {
	Root       bool   // it is the root module
	Dir        string // path.module
	RootDir    string // path.root; "": unknown, or that of the root module
	WorkingDir string // path.cwd; "": unknown
}

// NewScope makes the scope of a module, without anything that its files
// declare. If static is set, all variables are constant. inputs are the values that
// variables are given; nil if nothing is known of them.
func NewScope(at Paths, static bool, inputs map[string]cty.Value) *Scope {
	s := &Scope{
		root:      at.Root,
		static:    static,
		variables: map[string]*Variable{},
		locals:    map[string]*hcl.Attribute{},
		inputs:    inputs,
		paths:     map[string]cty.Value{"module": cty.StringVal(filepath.ToSlash(filepath.Clean(at.Dir)))},
		known:     map[reference]result{},
	}
	switch {
	case at.RootDir != "":
		s.paths["root"] = cty.StringVal(filepath.ToSlash(filepath.Clean(at.RootDir)))
	case s.root:
		s.paths["root"] = s.paths["module"]
	}
	if at.WorkingDir != "" {
		s.paths["cwd"] = cty.StringVal(filepath.ToSlash(at.WorkingDir))
	}
	return s
}

// resolve returns the value of what a traversal begins with, root.name.
func (s *Scope) resolve(t hcl.Traversal) (reference, result) {
	if len(t) < 2 {
		return reference{root: t.RootName()}, unknown
	}
	step, ok := t[1].(hcl.TraverseAttr)
	if !ok {
		return reference{root: t.RootName()}, unknown
	}
	ref := reference{t.RootName(), step.Name}
	if found, ok := s.known[ref]; ok {
		return ref, found
	}
	s.known[ref] = failed(t.SourceRange(), "Circular reference", "The value of %s.%s depends on itself.", ref.root, ref.name)
	s.depth++
	found := s.find(ref, t.SourceRange())
	s.depth--
	s.known[ref] = found
	return ref, found
}

// find computes what is referred to.
func (s *Scope) find(ref reference, at hcl.Range) result {
	switch ref.root {
	case "var":
		v, ok := s.variables[ref.name]
		if !ok {
			return failed(at, "Reference to undeclared input variable", "There is no variable %q in this module.", ref.name)
		}
		return v.value(s.root, s.inputs)
	case "local":
		attr, ok := s.locals[ref.name]
		switch {
		case !ok:
			return failed(at, "Reference to undeclared local value", "There is no local value %q in this module.", ref.name)
		case s.depth > maxLocals:
			return failed(at, "Local values nested too deeply", "More than %d local values depend on one another in a row.", maxLocals)
		}
		return s.eval(attr.Expr)
	case "path":
		if val, ok := s.paths[ref.name]; ok {
			return result{val: val}
		}
	}
	return unknown
}

// Add takes over what a primary file declares. Of duplicates, the first stays.
func (s *Scope) Add(variables []*Variable, locals []*hcl.Attribute) {
	for _, v := range variables {
		if _, ok := s.variables[v.Name]; !ok {
			s.variables[v.Name] = v
		}
	}
	for _, attr := range locals {
		if _, ok := s.locals[attr.Name]; !ok {
			s.locals[attr.Name] = attr
		}
	}
}

// Override takes over what an override file changes in what was added.
func (s *Scope) Override(variables []*Variable, locals []*hcl.Attribute) {
	for _, changed := range variables {
		if v, ok := s.variables[changed.Name]; ok {
			maps.Copy(v.Attrs, changed.Attrs)
		}
	}
	for _, attr := range locals {
		if _, ok := s.locals[attr.Name]; ok {
			s.locals[attr.Name] = attr
		}
	}
}

// Prepare makes the scope ready for use. The problems are those of variables:
// default values of the wrong type, and the values of constant ones, whether
// anything refers to them or not.
func (s *Scope) Prepare() (problems hcl.Diagnostics) {
	for _, name := range slices.Sorted(maps.Keys(s.variables)) {
		v := s.variables[name]
		if diag := v.prepare(s.static); diag != nil {
			problems = append(problems, diag)
			s.known[reference{"var", name}] = result{cty.DynamicVal, diag}
		}
		s.HasConstants = s.HasConstants || v.constant
		if !v.declared {
			continue
		}
		t := hcl.Traversal{hcl.TraverseRoot{Name: "var"}, hcl.TraverseAttr{Name: name}}
		if _, found := s.resolve(t); found.problem != nil && !slices.Contains(problems, found.problem) {
			problems = append(problems, found.problem)
		}
	}
	if s.root && s.HasConstants && !s.static {
		problems = append(problems, s.undeclared()...)
	}
	return problems
}

// maxValue bounds values, in bytes or so: without a bound, local values that
// repeat one another would double with each of them.
const maxValue = 64 << 10

// eval computes an expression in the scope. References to anything else are unknown.
func (s *Scope) eval(expr hcl.Expression) result {
	if json.IsJSONExpression(expr) {
		return s.evalJSON(expr)
	}
	if !Cheap(expr) {
		return failed(expr.Range(), "Expression too complex", "Loops, and numbers with thousands of digits, aren't computed before there are modules.")
	}
	ctx, problem := s.Context(expr.Variables(), expr.Range())
	if problem != nil {
		return result{cty.DynamicVal, problem}
	}
	return compute(expr, ctx)
}

// Context returns the values of references that stand at a place.
func (s *Scope) Context(references []hcl.Traversal, at hcl.Range) (*hcl.EvalContext, *hcl.Diagnostic) {
	roots := map[string]map[string]cty.Value{}
	size := 0
	for _, t := range references {
		ref, found := s.resolve(t)
		if found.problem != nil {
			return nil, found.problem
		}
		if roots[ref.root] == nil {
			roots[ref.root] = map[string]cty.Value{}
		}
		if ref.name != "" {
			roots[ref.root][ref.name] = found.val
		}
		size += valueSize(found.val, maxValue)
	}
	if size > maxValue {
		return nil, tooLarge(at).problem
	}
	if s.functions == nil {
		s.functions = functions()
	}
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: s.functions}
	for root, names := range roots {
		ctx.Variables[root] = cty.ObjectVal(names)
		if root != "var" && root != "local" && root != "path" {
			ctx.Variables[root] = cty.DynamicVal
		}
	}
	return ctx, nil
}

// compute evaluates an expression whose references have values.
func compute(expr hcl.Expression, ctx *hcl.EvalContext) result {
	secret := false
	for _, val := range ctx.Variables {
		secret = secret || val.HasMarkDeep(Sensitive)
	}
	val, diags := expr.Value(ctx)
	if !diags.HasErrors() && valueSize(val, maxValue) > maxValue {
		return tooLarge(expr.Range())
	}
	if !diags.HasErrors() {
		return result{val: val}
	}
	first := *diags.Errs()[0].(*hcl.Diagnostic)
	first.Expression, first.EvalContext = nil, nil // values aren't shown
	if secret {
		first.Detail = "This can't be computed. The reason isn't shown, because sensitive values have a part in it."
	}
	return result{cty.DynamicVal, &first}
}

func tooLarge(at hcl.Range) result {
	return failed(at, "Value too large", "A value of more than %d bytes isn't computed before there are modules.", maxValue)
}

// evalJSON computes an expression of the JSON syntax, whose strings are templates.
func (s *Scope) evalJSON(expr hcl.Expression) result {
	if src, ok := Literal(expr); ok {
		template, problem := parseTemplate(src, expr.Range())
		if problem != nil {
			return result{cty.DynamicVal, problem}
		}
		return s.eval(template)
	}
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		vals := map[string]cty.Value{}
		for _, pair := range pairs {
			key, ok := Literal(pair.Key)
			found := s.eval(pair.Value)
			if !ok || found.problem != nil {
				return result{cty.DynamicVal, found.problem}
			}
			vals[key] = found.val
		}
		return result{val: cty.ObjectVal(vals)}
	}
	if list, diags := hcl.ExprList(expr); !diags.HasErrors() {
		var vals []cty.Value
		for _, item := range list {
			found := s.eval(item)
			if found.problem != nil {
				return found
			}
			vals = append(vals, found.val)
		}
		return result{val: cty.TupleVal(vals)}
	}
	return compute(expr, &hcl.EvalContext{})
}

// parseTemplate reads a string of the JSON syntax as the template that it is.
func parseTemplate(src string, at hcl.Range) (hclsyntax.Expression, *hcl.Diagnostic) {
	if mayNest([]byte(src)) > MaxNesting {
		return nil, diagnostic.Error(at, "Expression too complex", "This template has more than %d brackets and operators.", MaxNesting)
	}
	start := at.Start
	start.Column, start.Byte = start.Column+1, start.Byte+1 // behind the quote
	template, diags := hclsyntax.ParseTemplate([]byte(src), at.Filename, start)
	if diags.HasErrors() {
		return nil, diags.Errs()[0].(*hcl.Diagnostic)
	}
	return template, nil
}

// References returns the references of an expression, also of one in JSON.
func References(expr hcl.Expression) []hcl.Traversal {
	if !json.IsJSONExpression(expr) {
		return expr.Variables()
	}
	if src, ok := Literal(expr); ok {
		if template, problem := parseTemplate(src, expr.Range()); problem == nil {
			return template.Variables()
		}
	}
	return nil
}

// valueSize is about how many bytes a value takes, or any number above a limit.
func valueSize(val cty.Value, limit int) int {
	val, _ = val.Unmark()
	typ := val.Type()
	switch {
	case !val.IsKnown() || val.IsNull():
		return 1
	case typ == cty.String:
		return 1 + len(val.AsString())
	case typ == cty.Number:
		return 1 + int(val.AsBigFloat().MinPrec()/8)
	case !val.CanIterateElements():
		return 1
	}
	size := 1
	for it := val.ElementIterator(); it.Next() && size <= limit; {
		key, inner := it.Element()
		if key.Type() == cty.String {
			size += len(key.AsString())
		}
		size += valueSize(inner, limit-size)
	}
	return size
}
