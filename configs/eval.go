package configs

import (
	"math/big"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// maxExponent bounds numbers that are turned into text: written out,
// 1e999999999 is a gigabyte.
const maxExponent = 10_000

// evaluate returns the value of an expression that can refer to nothing. The
// value is unknown where there are errors.
func evaluate(expr hcl.Expression) (cty.Value, hcl.Diagnostics) {
	if !cheap(expr) {
		return cty.DynamicVal, hcl.Diagnostics{Problem(expr.Range(), "Unsuitable value type", "A simple value is required here.")}
	}
	return expr.Value(nil)
}

// text is what a value is as a string; false if it isn't one, or is null.
func text(val cty.Value) (string, bool) {
	if val.Type() == cty.Number && val.IsKnown() && !val.IsNull() && !printable(val.AsBigFloat()) {
		return "", false
	}
	val, err := convert.Convert(val, cty.String)
	if err != nil || val.IsNull() || !val.IsKnown() {
		return "", false
	}
	return val.AsString(), true
}

// literal returns the value of an expression that has to be a string, and not
// only something that can be turned into one.
func literal(expr hcl.Expression) (string, bool) {
	val, diags := evaluate(expr)
	if diags.HasErrors() || val.Type() != cty.String || val.IsNull() || !val.IsKnown() {
		return "", false
	}
	return val.AsString(), true
}

// cheap reports whether evaluating takes no more time and memory than reading
// did. Loops in loops can double their result with every level.
func cheap(expr hcl.Expression) bool {
	node, ok := expr.(hclsyntax.Node)
	return !ok || cheapNode(node) // JSON is evaluated as it stands
}

func cheapNode(node hclsyntax.Node) bool {
	fine := true
	hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.ForExpr:
			fine = false
		case *hclsyntax.LiteralValueExpr:
			if n.Val.Type() == cty.Number && !n.Val.IsNull() {
				// The parser leaves a number unknown that is too large for it.
				fine = fine && n.Val.IsKnown() && printable(n.Val.AsBigFloat())
			}
		}
		return nil
	})
	return fine
}

func printable(number *big.Float) bool {
	exponent := number.MantExp(nil)
	return !number.IsInf() && -maxExponent < exponent && exponent < maxExponent
}

// checkConstant reports variables and functions in an argument whose value
// must not depend on anything, without evaluating it.
func (d *document) checkConstant(attr *hcl.Attribute) {
	node, ok := attr.Expr.(hclsyntax.Node)
	if !ok {
		return // strings in JSON are taken as they stand here
	}
	for _, traversal := range attr.Expr.Variables() {
		d.report(Problem(traversal[0].SourceRange(), "Variables not allowed", "Variables can't be used here."))
	}
	hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok {
			d.report(Problem(call.Range(), "Function calls not allowed", "Functions can't be called here."))
		}
		return nil
	})
}

// quoted returns the content of a string literal in the native syntax, with
// nothing interpolated.
func quoted(expr hcl.Expression) (string, bool) {
	template, ok := expr.(*hclsyntax.TemplateExpr)
	if !ok || !template.IsStringLiteral() {
		return "", false
	}
	val, diags := template.Value(nil)
	if diags.HasErrors() {
		return "", false
	}
	return text(val)
}
