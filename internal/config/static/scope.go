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

// Scope has the values that the source of a module may refer to: constant input variables, local values, and paths. Each is computed
// once, at its first use. Make one with [NewScope], add the files' declarations, and call Prepare before computing anything. It is for
// one goroutine.
type Scope struct {
	Paths
	product   dialect.Dialect
	Variables map[string]*Variable      // declared by the module
	Locals    map[string]*hcl.Attribute // local values of the module
	// Declared reports whether the module has the resource or module call of a reference: a value that depends on one
	// that isn't declared is an error. nil means unknown.
	Declared func(t hcl.Traversal) bool
	inputs   map[string]cty.Value
	paths    map[string]cty.Value // of "path", without the unknown ones

	files     functions.Files
	functions map[string]function.Function // nil until they are needed
	spent     int                          // the cost of computations so far, see limits.go
	exceeded  *hcl.Diagnostic              // the problem that it is too high
	known     map[reference]result
	depth     int
	needing   []need // what is being computed, outermost first, for products that report chains of dependencies
}

// reference is a reference to a name of the scope: root.name.
type reference struct{ root, name string }

// result is the result of a computation: a value, which is unknown if there are problems. It is
// also unknown without a problem if it depends on something that only plan knows. The first problem
// is the cause; the others report what depends on it.
type result struct {
	val      cty.Value
	problems hcl.Diagnostics
	own      bool // the problem is with the reference or its value, not a missing value
}

// need is an object that is being computed: its name in messages, and the position for problems
// with its dependencies.
type need struct {
	subject string
	at      hcl.Range
}

var unknown = result{val: cty.DynamicVal}

func failed(at hcl.Range, summary, format string, args ...any) result {
	return because(diagnostic.Error(at, summary, format, args...))
}

// because returns the result of a problem.
func because(problem *hcl.Diagnostic) result {
	return result{val: cty.DynamicVal, problems: hcl.Diagnostics{problem}}
}

// itself marks a problem of the reference itself, not of its dependencies.
func (r result) itself() result {
	r.own = true
	return r
}

// maxLocals bounds chains of local values that refer to each other.
const maxLocals = 1000

// Paths has the module's place and the context of its expressions.
type Paths struct {
	Root       bool      // it is the root module
	Dir        string    // path.module
	RootDir    string    // path.root; "" means unknown, or the directory of the root module
	Workspace  string    // terraform.workspace; "" means unknown
	Module     string    // its place in the tree of modules, "module.a.module.b"; "" for the root module
	Called     hcl.Range // position of its call; zero if it isn't called, or unknown
	WorkingDir string    // path.cwd; "" means unknown

	FS     fs.FS  // for functions that read files; nil means the file system of the process
	Within string // the directory that they can't read outside of; "" means no limit
	Home   string // replaces "~"; "" means unknown
}

// NewScope returns the scope of a module without declarations. inputs are the given values of variables; nil if they are
// unknown.
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

// resolve returns the value of a traversal's first two steps, root.name.
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

// find computes the value of a reference.
func (s *Scope) find(ref reference, at hcl.Range) result {
	switch ref.root {
	case "var":
		v, ok := s.Variables[ref.name]
		switch {
		case !ok:
			return failed(at, s.called("Reference to undeclared input variable", "Undefined variable"), "There is no variable %q in this module.", ref.name).itself()
		case v.denied:
			return failed(at, "Unable to use variable in static context",
				"The variable %q has const = false, so nothing that has to be known before modules are installed can depend on it.", ref.name).itself()
		}
		return s.value(v)
	case "local":
		attr, ok := s.Locals[ref.name]
		switch {
		case !ok:
			return failed(at, s.called("Reference to undeclared local value", "Undefined local"), "There is no local value %q in this module.", ref.name).itself()
		case s.depth > maxLocals:
			return tooMuchFor(at, "Local values nested too deeply", "More than %d local values depend on one another in a row.", maxLocals)
		}
		return s.evalFor(s.subject("local."+ref.name), attr.Range, attr.Expr)
	case "path":
		if val, ok := s.paths[ref.name]; ok {
			return result{val: val}
		}
		if ref.name != "root" && ref.name != "cwd" {
			return failed(at, "Invalid \"path\" attribute", "There are path.module, path.root and path.cwd, and no path.%s.", ref.name)
		}
	case "terraform", "tofu":
		return s.setting(ref, at)
	}
	return unknown
}

// called returns a summary: Terraform's, or own in products with their own summaries.
func (s *Scope) called(summary, own string) string {
	if s.product.Understands("own_summaries") {
		return own
	}
	return summary
}

// checkDeclared reports a reference to an undeclared object. Declared objects are unknown before
// plan.
func (s *Scope) checkDeclared(t hcl.Traversal) result {
	if s.Declared == nil || s.Declared(t) {
		return unknown
	}
	if t.RootName() == "module" {
		return failed(t.SourceRange(), "Reference to undeclared module", "There is no call of a module %q in this module.", StepName(t, 1))
	}
	return failed(t.SourceRange(), "Reference to undeclared resource", "There is no such resource in this module.")
}

// Prepare makes the scope ready for use. The problems are those of variables: default values of the
// wrong type, and invalid values of constant variables, used or not.
func (s *Scope) Prepare() (problems hcl.Diagnostics) {
	for _, name := range slices.Sorted(maps.Keys(s.Variables)) {
		v := s.Variables[name]
		if diag := v.prepare(s.product); diag != nil {
			problems = append(problems, diag)
			s.known[reference{"var", name}] = because(diag)
		}
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
