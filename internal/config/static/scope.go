package static

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static/functions"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// Scope is what the source of a module may refer to: constant input variables,
// local values, and paths. Everything in it is computed when it is first asked
// for, and once. Make one with [NewScope], fill in what the files declare, and call Prepare before anything is computed. It is for one
// goroutine.
type Scope struct {
	Paths
	product   dialect.Dialect
	Variables map[string]*Variable      // those that the module declares
	Locals    map[string]*hcl.Attribute // likewise its local values
	// Declared reports whether there is a resource or module call of that name: what isn't there is an error wherever a
	// value depends on it. nil: not known.
	Declared func(t hcl.Traversal) bool
	inputs   map[string]cty.Value
	paths    map[string]cty.Value // of "path"; what isn't known is left out

	files        functions.Files
	functions    map[string]function.Function // nil: not needed so far
	spent        int                          // what computing has taken so far, see limits.go
	exceeded     *hcl.Diagnostic              // that it was too much
	known        map[reference]result
	depth        int
	needing      []need // what is being computed, outermost first, in products that tell what depends on what
	HasConstants bool   // whether there is a constant variable
}

// reference is a step from one of the names that a scope has to what is below.
type reference struct{ root, name string }

// result is what became of computing something: a value, which is unknown if
// there are problems. It can be unknown without one, where it depends on what
// only a plan knows. The first problem is the cause, the others say what depends on it.
type result struct {
	val      cty.Value
	problems hcl.Diagnostics
	own      bool // whether the problem is one with a reference, or the value there, and not that there is no value
}

// need is what is being computed: as messages name it, and where problems with what it
// depends on are shown.
type need struct {
	subject string
	at      hcl.Range
}

var unknown = result{val: cty.DynamicVal}

func failed(at hcl.Range, summary, format string, args ...any) result {
	return because(diagnostic.Error(at, summary, format, args...))
}

// because is the result of a problem.
func because(problem *hcl.Diagnostic) result {
	return result{val: cty.DynamicVal, problems: hcl.Diagnostics{problem}}
}

// itself is the result of a problem that isn't what others depend on.
func (r result) itself() result {
	r.own = true
	return r
}

// maxLocals bounds chains of local values, each referring to the next one.
const maxLocals = 1000

// Paths says where the module of a scope is.
type Paths struct {
	Root       bool      // it is the root module
	Dir        string    // path.module
	RootDir    string    // path.root; "": unknown, or that of the root module
	Workspace  string    // terraform.workspace; "": unknown
	Module     string    // its place in the tree of modules, "module.a.module.b"; "" is the root module
	Called     hcl.Range // where it is called; zero: nowhere, or unknown
	WorkingDir string    // path.cwd; "": unknown

	FS     fs.FS  // where functions read files; nil: the file system of the process
	Within string // the directory that they can't read out of; "": none
	Home   string // what "~" stands for; "": unknown
}

// NewScope makes the scope of a module, without anything that its files declare. inputs are the values that variables are given;
// nil if nothing is known of them.
func NewScope(at Paths, product dialect.Dialect, inputs map[string]cty.Value) *Scope {
	s := &Scope{
		Paths:     at,
		product:   product,
		Variables: map[string]*Variable{},
		Locals:    map[string]*hcl.Attribute{},
		inputs:    inputs,
		paths:     map[string]cty.Value{"module": cty.StringVal(filepath.ToSlash(filepath.Clean(at.Dir)))},
		known:     map[reference]result{},
	}
	switch {
	case at.RootDir != "":
		s.paths["root"] = cty.StringVal(filepath.ToSlash(filepath.Clean(at.RootDir)))
	case s.Root:
		s.paths["root"] = s.paths["module"]
	}
	s.files = functions.Files{FS: at.FS, Within: at.Within, Home: at.Home}
	if root, ok := s.paths["root"]; ok {
		s.files.Dir = filepath.FromSlash(root.AsString())
	}
	if at.WorkingDir != "" {
		s.paths["cwd"] = cty.StringVal(filepath.ToSlash(at.WorkingDir))
	}
	return s
}

// resolve returns the value of what a traversal begins with, root.name.
func (s *Scope) resolve(t hcl.Traversal) (reference, result) {
	switch root, isStatic := t.RootName(), s.product.Understands("only_static"); {
	case root == "var" || root == "local" || root == "path":
	case isStatic && (root == "terraform" || root == "tofu"):
	case isStatic:
		return reference{root: root}, s.dynamic(t)
	default:
		return reference{root: root}, s.checkDeclared(t)
	}
	if len(t) < 2 {
		return reference{root: t.RootName()}, unknown
	}
	step, ok := t[1].(hcl.TraverseAttr)
	if !ok {
		return reference{root: t.RootName()}, unknown
	}
	ref := reference{t.RootName(), step.Name}
	if found, ok := s.known[ref]; ok {
		return ref, s.explained(ref, found)
	}
	s.known[ref] = failed(t.SourceRange(), "Circular reference", "The value of %s.%s depends on itself.", ref.root, ref.name).itself()
	s.depth++
	found := s.find(ref, t.SourceRange())
	s.depth--
	s.known[ref] = found
	return ref, s.explained(ref, found)
}

// find computes what is referred to.
func (s *Scope) find(ref reference, at hcl.Range) result {
	switch ref.root {
	case "var":
		v, ok := s.Variables[ref.name]
		switch {
		case !ok:
			return failed(at, s.called("Reference to undeclared input variable", "Undefined variable"), "There is no variable %q in this module.", ref.name).itself()
		case v.denied:
			return failed(at, "Unable to use variable in static context",
				"The variable %q has const = false, so that nothing that has to be known before modules are installed can depend on it.", ref.name).itself()
		}
		return s.value(v)
	case "local":
		attr, ok := s.Locals[ref.name]
		switch {
		case !ok:
			return failed(at, s.called("Reference to undeclared local value", "Undefined local"), "There is no local value %q in this module.", ref.name).itself()
		case s.depth > maxLocals:
			return failed(at, "Local values nested too deeply", "More than %d local values depend on one another in a row.", maxLocals)
		}
		return s.evalFor("local."+ref.name, attr.Range, attr.Expr)
	case "path":
		if val, ok := s.paths[ref.name]; ok {
			return result{val: val}
		}
		if s.product.Understands("only_static") && ref.name != "root" && ref.name != "cwd" {
			return failed(at, "Invalid \"path\" attribute", "There are path.module, path.root and path.cwd, and no path.%s.", ref.name)
		}
	case "terraform", "tofu":
		return s.setting(ref, at)
	}
	return unknown
}

// called returns the summary of a problem: Terraform's, or that of products with summaries of their own.
func (s *Scope) called(summary, own string) string {
	if s.product.Understands("own_summaries") {
		return own
	}
	return summary
}

// checkDeclared reports a reference to what isn't in the module. What is there is
// unknown before a plan.
func (s *Scope) checkDeclared(t hcl.Traversal) result {
	if s.Declared == nil || s.Declared(t) {
		return unknown
	}
	if t.RootName() == "module" {
		return failed(t.SourceRange(), "Reference to undeclared module", "There is no call of a module %q in this module.", StepName(t, 1))
	}
	return failed(t.SourceRange(), "Reference to undeclared resource", "There is no such resource in this module.")
}

// Prepare makes the scope ready for use. The problems are those of variables:
// default values of the wrong type, and the values of constant ones, whether
// anything refers to them or not.
func (s *Scope) Prepare() (problems hcl.Diagnostics) {
	for _, name := range slices.Sorted(maps.Keys(s.Variables)) {
		v := s.Variables[name]
		if diag := v.prepare(s.product); diag != nil {
			problems = append(problems, diag)
			s.known[reference{"var", name}] = because(diag)
		}
		s.HasConstants = s.HasConstants || v.constant
		if !v.declared {
			problems = append(problems, s.readable(v)...)
			continue
		}
		t := hcl.Traversal{hcl.TraverseRoot{Name: "var"}, hcl.TraverseAttr{Name: name}}
		_, found := s.resolve(t)
		if len(found.problems) == 0 {
			problems = append(problems, s.validate(v)...)
			continue
		}
		for _, problem := range found.problems {
			if !slices.Contains(problems, problem) {
				problems = append(problems, problem)
			}
		}
	}
	if s.Root && !s.product.Understands("any_variable") {
		problems = append(problems, s.undeclared()...)
	}
	return problems
}
