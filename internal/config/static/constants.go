package static

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static/functions"
)

// Constant returns the value of the argument "source" or "version" (what) of a module call. The
// value is null, or known and not secret, or there are problems, the first of which is the cause. A
// nil Scope allows no references.
func (s *Scope) Constant(call string, attr *hcl.Attribute, what string) (cty.Value, hcl.Diagnostics) {
	if s == nil {
		val, diags := Evaluate(attr.Expr)
		if diags.HasErrors() {
			return cty.DynamicVal, diags[:1]
		}
		return val, nil
	}
	isStatic := s.product.Understands("only_static") // such products report invalid references in every place
	for _, t := range References(attr.Expr) {
		if diag := s.checkReference(t, what); diag != nil && !isStatic {
			return cty.DynamicVal, hcl.Diagnostics{diag}
		}
	}
	at := attr.Expr.Range()
	found := s.evalFor(s.subject("module."+call+"."+what), at, attr.Expr)
	val := found.val
	switch {
	case len(found.problems) > 0:
	case isSecret(val):
		found = failed(at, s.secretSummary(val, what), "The %s of a module can't depend on sensitive or ephemeral values: it is shown and recorded.", what)
	case !val.IsKnown():
		found = failed(at, "Unknown module "+what, "Only literal values and constant variables can be evaluated during init, and this depends on something else. "+
			"A variable is constant if its block says const = true.")
	case isStatic:
	case what == "source" && val.IsNull():
		found = failed(at, "Unsuitable module source", "The source of a module can't be null: it says where the module is.")
	case !val.Type().IsPrimitiveType() && !val.IsNull():
		found = failed(at, "Incorrect value type", "The %s of a module has to be a string.", what)
	}
	if len(found.problems) > 0 {
		return cty.DynamicVal, found.problems
	}
	return val, nil
}

// secretSummary returns the summary of a problem with a secret value.
func (s *Scope) secretSummary(val cty.Value, what string) string {
	switch {
	case !s.product.Understands("own_summaries"):
		return "Unknown module " + what
	case what == "version":
		return "Invalid version constraint"
	case val.HasMarkDeep(functions.Sensitive):
		return "Sensitive value not allowed"
	default:
		return "Ephemeral value not allowed"
	}
}

// checkReference reports a reference that neither source nor version of a module can have, in products
// without static evaluation.
func (s *Scope) checkReference(t hcl.Traversal, what string) *hcl.Diagnostic {
	name, at := StepName(t, 1), t.SourceRange()
	switch root := t.RootName(); {
	case IsTypeName(t):
		return nil
	case len(t) < 2 || name == "" && (root == "var" || root == "local"):
		return diagnostic.Error(at, "Invalid reference", "This refers to nothing: a dot and a name have to follow %q.", root)
	case root == "var", root == "local":
		return nil
	case root == "path" && what == "source":
		if _, ok := s.paths[name]; !ok && !slices.Contains([]string{"cwd", "module", "root"}, name) {
			return diagnostic.Error(at, "Invalid \"path\" attribute", "There are path.cwd, path.module and path.root, but no path.%s.", name)
		}
		return nil
	}
	return diagnostic.Error(at, "Invalid module "+what,
		"The %s of a module can only refer to constant input variables and local values: a variable is constant if its block says const = true.", what)
}

// CallInputs computes the values of a module call for the module's variables; nil if it has none. A
// value that can't be computed is unknown.
func (s *Scope) CallInputs(call string, attrs hcl.Attributes) map[string]cty.Value {
	if len(attrs) == 0 {
		return nil
	}
	inputs, called := map[string]cty.Value{}, "module."+call
	if s.Module != "" {
		called = s.Module + "." + called
	}
	for name, attr := range attrs {
		found := s.evalFor(called+":var."+name, attr.Range, attr.Expr)
		source := ValueSource{From: "the module's caller", At: attr.Expr.Range(), Call: true}
		if len(found.problems) > 0 {
			source.problems = &found.problems
		}
		inputs[name] = found.val.Mark(source)
	}
	return inputs
}

// LocalProblems returns the problems of the local values that an expression refers to, directly or through others. It leaves out
// those that may be due to limits of this package, which matter only where a value is needed.
func (s *Scope) LocalProblems(expr hcl.Expression) (problems hcl.Diagnostics) {
	if json.IsJSONExpression(expr) {
		native, problem := fromJSON(expr)
		if problem != nil {
			return nil
		}
		expr = native
	}

	for _, t := range expr.Variables() {
		_, declared := s.Locals[StepName(t, 1)]
		if t.RootName() != "local" || !declared {
			continue
		}
		_, found := s.resolve(t)
		if !isLimited(found.problems) {
			problems = append(problems, found.problems...)
		}
	}
	return problems
}

// bodyReferences returns the references of all expressions in a body.
func bodyReferences(body hcl.Body) (refs []hcl.Traversal, problem *hcl.Diagnostic) {
	if native, ok := body.(*hclsyntax.Body); ok {
		for _, attr := range native.Attributes {
			refs = append(refs, attr.Expr.Variables()...) // without the variables of loops
		}
		for _, block := range native.Blocks {
			inner, _ := bodyReferences(block.Body)
			refs = append(refs, inner...)
		}
	} else {
		attrs, _ := body.JustAttributes() // its depth is limited
		for _, attr := range attrs {
			native, problem := fromJSON(attr.Expr)
			if problem == nil && !Cheap(native) {
				problem = diagnostic.Error(native.Range(), "Unsuitable value type", "Simple values are required here: no loops, and no numbers with thousands of digits.")
			}
			if problem != nil {
				return nil, problem
			}
			refs = append(refs, native.Variables()...)
		}
	}
	slices.SortFunc(refs, func(a, b hcl.Traversal) int { return a.SourceRange().Start.Byte - b.SourceRange().Start.Byte })
	return refs, nil
}
