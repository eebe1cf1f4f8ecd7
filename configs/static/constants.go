package static

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/configs/internal/diagnostic"
)

// Constant returns the value of the argument of a call that says which module is
// called: what is "source" or "version". It is null, or known and not secret, or
// there is a problem. In the nil Scope nothing may be referred to.
func (s *Scope) Constant(attr *hcl.Attribute, what string) (cty.Value, *hcl.Diagnostic) {
	if s == nil {
		val, diags := Evaluate(attr.Expr)
		if diags.HasErrors() {
			return cty.DynamicVal, diags[0]
		}
		return val, nil
	}
	for _, t := range References(attr.Expr) {
		if !s.allows(t, what) {
			return cty.DynamicVal, s.forbidden(t, what)
		}
	}
	found := s.eval(attr.Expr)
	val := found.val
	switch {
	case found.problem != nil:
		return cty.DynamicVal, found.problem
	case val.HasMarkDeep(Sensitive) || val.HasMarkDeep(ephemeral):
		return cty.DynamicVal, diagnostic.Error(attr.Expr.Range(), "Invalid module "+what,
			"The %s of a module can't depend on sensitive or ephemeral values: it is shown and recorded.", what)
	case !val.IsKnown():
		return cty.DynamicVal, diagnostic.Error(attr.Expr.Range(), "Unknown module "+what,
			"Only literal values and constant variables can be evaluated during init, and this depends on something else.")
	}
	return val, nil
}

func (s *Scope) forbidden(t hcl.Traversal, what string) *hcl.Diagnostic {
	if s.static {
		return diagnostic.Error(t.SourceRange(), "Dynamic value in static context",
			"The %s of a module can only refer to input variables, local values and paths.", what)
	}
	return diagnostic.Error(t.SourceRange(), "Invalid module "+what,
		"The %s of a module can only refer to constant input variables and local values: a variable is constant if its block says const = true.", what)
}

// allows reports whether the source or the version of a module may have a reference.
func (s *Scope) allows(t hcl.Traversal, what string) bool {
	switch t.RootName() {
	case "var":
		name := StepName(t, 1)
		v, ok := s.variables[name]
		return !ok && name != "" || ok && v.constant
	case "local":
		return true
	case "path":
		return what == "source" || s.static
	}
	return false
}

// CallInputs computes the values that a call has for the variables of its module;
// nil if it has none. A value that can't be computed is unknown.
func (s *Scope) CallInputs(attrs hcl.Attributes) map[string]cty.Value {
	if len(attrs) == 0 {
		return nil
	}
	inputs := map[string]cty.Value{}
	for name, attr := range attrs {
		found := s.eval(attr.Expr)
		inputs[name] = found.val.Mark(ValueSource{From: "the module's caller", At: attr.Expr.Range(), Call: true, problem: found.problem})
	}
	return inputs
}

// CheckBackend finds references that the block of a backend can't have: to anything
// but variables, local values and paths, and to secret values, as the arguments
// are recorded. ctx is that of [Scope.Context] for them.
func (s *Scope) CheckBackend(refs []hcl.Traversal, ctx *hcl.EvalContext) *hcl.Diagnostic {
	for _, t := range refs {
		if root := t.RootName(); root != "var" && root != "local" && root != "path" {
			return diagnostic.Error(t.SourceRange(), "Dynamic value in static context",
				"The arguments of a backend can only refer to input variables, local values and paths.")
		}
		if _, found := s.resolve(t); found.val.HasMarkDeep(Sensitive) || found.val.HasMarkDeep(ephemeral) {
			return diagnostic.Error(t.SourceRange(), "Sensitive value not allowed",
				"The arguments of a backend can't depend on sensitive or ephemeral values: they are recorded.")
		}
	}
	return nil
}

// BodyReferences returns the references of all expressions in a body.
func BodyReferences(body hcl.Body) (refs []hcl.Traversal, problem *hcl.Diagnostic) {
	native, ok := body.(*hclsyntax.Body)
	if !ok {
		attrs, _ := body.JustAttributes()
		for _, attr := range attrs {
			more, problem := jsonReferences(attr.Expr)
			if problem != nil {
				return nil, problem
			}
			refs = append(refs, more...)
		}
		return refs, nil
	}
	hclsyntax.VisitAll(native, func(n hclsyntax.Node) hcl.Diagnostics {
		if found, ok := n.(*hclsyntax.ScopeTraversalExpr); ok {
			refs = append(refs, found.Traversal)
		}
		return nil
	})
	return refs, nil
}

// jsonReferences are the references of an expression of the JSON syntax, however
// deep in it: that it isn't too deep is known.
func jsonReferences(expr hcl.Expression) (refs []hcl.Traversal, problem *hcl.Diagnostic) {
	var inner []hcl.Expression
	if src, ok := Literal(expr); ok {
		template, problem := parseTemplate(src, expr.Range())
		if problem != nil {
			return nil, problem
		}
		return template.Variables(), checkTemplate(template)
	} else if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		for _, pair := range pairs {
			inner = append(inner, pair.Key, pair.Value)
		}
	} else if list, diags := hcl.ExprList(expr); !diags.HasErrors() {
		inner = list
	}
	for _, item := range inner {
		more, problem := jsonReferences(item)
		if problem != nil {
			return nil, problem
		}
		refs = append(refs, more...)
	}
	return refs, nil
}

func checkTemplate(template hclsyntax.Expression) *hcl.Diagnostic {
	if Cheap(template) {
		return nil
	}
	return diagnostic.Error(template.Range(), "Unsuitable value type", "Simple values are required here: no loops, and no numbers with thousands of digits.")
}
