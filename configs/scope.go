package configs

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/tfdeps/tfdeps/getproviders"
)

// scope is what the source of a module may refer to: constant input variables,
// local values, and paths. Everything in it is computed when it is first asked
// for, and once.
type scope struct {
	root      bool
	static    bool // all variables are constant
	variables map[string]*variable
	locals    map[string]*hcl.Attribute
	inputs    Values
	paths     map[string]cty.Value // of "path"; what isn't known is left out

	functions map[string]function.Function // nil: not needed so far
	known     map[reference]outcome
	depth     int
	constants bool // whether there is a constant variable
}

// reference is a step from one of the names that a scope has to what is below.
type reference struct{ root, name string }

// outcome is what became of computing something: a value, which is unknown if
// there is a problem. It can be unknown without one, where it depends on what
// only a plan knows.
type outcome struct {
	val     cty.Value
	problem *hcl.Diagnostic
}

var unknown = outcome{val: cty.DynamicVal}

func failed(at hcl.Range, summary, format string, args ...any) outcome {
	return outcome{cty.DynamicVal, Problem(at, summary, format, args...)}
}

// maxLocals bounds chains of local values, each referring to the next one.
const maxLocals = 1000

func newScope(dir string, product getproviders.Product, opts Options) *scope {
	s := &scope{
		root:      opts.Path == "",
		static:    product.StaticModules,
		variables: map[string]*variable{},
		locals:    map[string]*hcl.Attribute{},
		inputs:    opts.Inputs,
		paths:     map[string]cty.Value{"module": cty.StringVal(filepath.ToSlash(filepath.Clean(dir)))},
		known:     map[reference]outcome{},
	}
	switch {
	case opts.RootDir != "":
		s.paths["root"] = cty.StringVal(filepath.ToSlash(filepath.Clean(opts.RootDir)))
	case s.root:
		s.paths["root"] = s.paths["module"]
	}
	if opts.WorkingDir != "" {
		s.paths["cwd"] = cty.StringVal(filepath.ToSlash(opts.WorkingDir))
	}
	return s
}

// resolve returns the value of what a traversal begins with, root.name.
func (s *scope) resolve(t hcl.Traversal) (reference, outcome) {
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
func (s *scope) find(ref reference, at hcl.Range) outcome {
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
			return outcome{val: val}
		}
	}
	return unknown
}

// add takes over what a primary file declares.
func (s *scope) add(d *document) {
	for _, v := range d.variables {
		if _, ok := s.variables[v.name]; !ok {
			s.variables[v.name] = v
		}
	}
	for _, attr := range d.values {
		if _, ok := s.locals[attr.Name]; !ok {
			s.locals[attr.Name] = attr
		}
	}
}

// override changes variables and local values.
func (s *scope) override(d *document) {
	for _, changed := range d.variables {
		if v, ok := s.variables[changed.name]; ok {
			maps.Copy(v.attrs, changed.attrs)
		}
	}
	for _, attr := range d.values {
		if _, ok := s.locals[attr.Name]; ok {
			s.locals[attr.Name] = attr
		}
	}
}

// settle makes the scope ready for use. The problems are those of variables:
// default values of the wrong type, and the values of constant ones, whether
// anything refers to them or not.
func (s *scope) settle() (problems hcl.Diagnostics) {
	for _, name := range slices.Sorted(maps.Keys(s.variables)) {
		v := s.variables[name]
		if diag := v.settle(s.static); diag != nil {
			problems = append(problems, diag)
			s.known[reference{"var", name}] = outcome{cty.DynamicVal, diag}
		}
		s.constants = s.constants || v.constant
		if !v.declared {
			continue
		}
		t := hcl.Traversal{hcl.TraverseRoot{Name: "var"}, hcl.TraverseAttr{Name: name}}
		if _, found := s.resolve(t); found.problem != nil && !slices.Contains(problems, found.problem) {
			problems = append(problems, found.problem)
		}
	}
	if s.root && s.constants && !s.static {
		problems = append(problems, s.undeclared()...)
	}
	return problems
}
