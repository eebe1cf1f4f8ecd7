package configs

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
)

// maxValue bounds values, in bytes or so: without a bound, local values that
// repeat one another would double with each of them.
const maxValue = 64 << 10

// eval computes an expression in the scope. References to anything else are unknown.
func (s *scope) eval(expr hcl.Expression) outcome {
	if json.IsJSONExpression(expr) {
		return s.evalJSON(expr)
	}
	if !cheap(expr) {
		return failed(expr.Range(), "Expression too complex", "Loops, and numbers with thousands of digits, aren't computed before there are modules.")
	}
	ctx, problem := s.context(expr.Variables(), expr.Range())
	if problem != nil {
		return outcome{cty.DynamicVal, problem}
	}
	return compute(expr, ctx)
}

// context has values for references of what is at a place.
func (s *scope) context(references []hcl.Traversal, at hcl.Range) (*hcl.EvalContext, *hcl.Diagnostic) {
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
func compute(expr hcl.Expression, ctx *hcl.EvalContext) outcome {
	secret := false
	for _, val := range ctx.Variables {
		secret = secret || val.HasMarkDeep(sensitive)
	}
	val, diags := expr.Value(ctx)
	if !diags.HasErrors() && valueSize(val, maxValue) > maxValue {
		return tooLarge(expr.Range())
	}
	if !diags.HasErrors() {
		return outcome{val: val}
	}
	first := *diags.Errs()[0].(*hcl.Diagnostic)
	first.Expression, first.EvalContext = nil, nil // values are nobody's business
	if secret {
		first.Detail = "This can't be computed. Why isn't told, because sensitive values have a part in it."
	}
	return outcome{cty.DynamicVal, &first}
}

func tooLarge(at hcl.Range) outcome {
	return failed(at, "Value too large", "A value of more than %d bytes isn't computed before there are modules.", maxValue)
}

// evalJSON computes an expression of the JSON syntax, whose strings are templates.
func (s *scope) evalJSON(expr hcl.Expression) outcome {
	if src, ok := literal(expr); ok {
		template, problem := parseTemplate(src, expr.Range())
		if problem != nil {
			return outcome{cty.DynamicVal, problem}
		}
		return s.eval(template)
	}
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		vals := map[string]cty.Value{}
		for _, pair := range pairs {
			key, ok := literal(pair.Key)
			found := s.eval(pair.Value)
			if !ok || found.problem != nil {
				return outcome{cty.DynamicVal, found.problem}
			}
			vals[key] = found.val
		}
		return outcome{val: cty.ObjectVal(vals)}
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
		return outcome{val: cty.TupleVal(vals)}
	}
	return compute(expr, &hcl.EvalContext{})
}

// parseTemplate reads a string of the JSON syntax as the template that it is.
func parseTemplate(src string, at hcl.Range) (hclsyntax.Expression, *hcl.Diagnostic) {
	if mayNest([]byte(src)) > maxNesting {
		return nil, Problem(at, "Expression too complex", "This template has more than %d brackets and operators.", maxNesting)
	}
	start := at.Start
	start.Column, start.Byte = start.Column+1, start.Byte+1 // behind the quote
	template, diags := hclsyntax.ParseTemplate([]byte(src), at.Filename, start)
	if diags.HasErrors() {
		return nil, diags.Errs()[0].(*hcl.Diagnostic)
	}
	return template, nil
}

// references are the references of an expression, also of one in JSON.
func references(expr hcl.Expression) []hcl.Traversal {
	if !json.IsJSONExpression(expr) {
		return expr.Variables()
	}
	if src, ok := literal(expr); ok {
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
