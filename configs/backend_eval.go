package configs

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// resolveBackend gives the backend's block what its arguments refer to, where the
// product lets them. As the values are written down, secret ones are a mistake.
func (b *builder) resolveBackend() {
	given := b.module.Backend
	if !b.product.StaticModules || given == nil || given.Body == nil {
		return
	}
	block := *given
	b.module.Backend = &block
	refs, problem := bodyReferences(block.Body)
	if problem == nil {
		block.Context, problem = b.scope.context(refs, block.Range)
	}
	if problem == nil {
		problem = b.scope.checkBackend(refs, block.Context)
	}
	if problem != nil {
		block.Body = nil
		b.report(problem)
	}
}

// checkBackend finds references that the block of a backend can't have.
func (s *scope) checkBackend(refs []hcl.Traversal, ctx *hcl.EvalContext) *hcl.Diagnostic {
	for _, t := range refs {
		if root := t.RootName(); root != "var" && root != "local" && root != "path" {
			return Problem(t.SourceRange(), "Dynamic value in static context",
				"The arguments of a backend can only refer to input variables, local values and paths.")
		}
		if _, found := s.resolve(t); found.val.HasMarkDeep(sensitive) || found.val.HasMarkDeep(ephemeral) {
			return Problem(t.SourceRange(), "Sensitive value not allowed",
				"The arguments of a backend can't depend on sensitive or ephemeral values: they are recorded.")
		}
	}
	return nil
}

// bodyReferences are the references of all expressions in a body.
func bodyReferences(body hcl.Body) (refs []hcl.Traversal, problem *hcl.Diagnostic) {
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
	if src, ok := literal(expr); ok {
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
	if cheap(template) {
		return nil
	}
	return Problem(template.Range(), "Unsuitable value type", "Simple values are required here: no loops, and no numbers with thousands of digits.")
}
