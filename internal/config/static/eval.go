package static

import (
	"errors"
	"math/big"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
)

// maxExponent bounds numbers that are turned into text: written out,
// 1e999999999 is a gigabyte.
const maxExponent = 10_000

// Evaluate returns the value of an expression that can refer to nothing. The
// value is unknown where there are errors. That loops take too much is the only error then.
func Evaluate(expr hcl.Expression) (cty.Value, hcl.Diagnostics) {
	if !Cheap(expr) {
		return cty.DynamicVal, hcl.Diagnostics{diagnostic.Error(expr.Range(), "Unsuitable value type", "A simple value is required here.")}
	}
	val, diags := expr.Value(nil)
	for _, diag := range diags {
		if diag.Extra == errSpent {
			return cty.DynamicVal, hcl.Diagnostics{diag}
		}
	}
	return val, diags
}

// Text returns a value as a string; false if it can't be converted to one, or is
// null or unknown.
func Text(val cty.Value) (string, bool) {
	if val.Type() == cty.Number && val.IsKnown() && !val.IsNull() && !printable(val.AsBigFloat()) {
		return "", false
	}
	val, err := convert.Convert(val, cty.String)
	if err != nil || val.IsNull() || !val.IsKnown() {
		return "", false
	}
	return val.AsString(), true
}

// Literal returns the value of an expression that has to be a string, and not
// only something that can be turned into one.
func Literal(expr hcl.Expression) (string, bool) {
	val, diags := Evaluate(expr)
	if diags.HasErrors() || val.Type() != cty.String || val.IsNull() || !val.IsKnown() {
		return "", false
	}
	return val.AsString(), true
}

// Cheap reports whether evaluating an expression takes no more time and memory than reading
// did, or not much. Loops in loops can double their result with every level, so that only those count that [Parse] has
// put a limit to.
func Cheap(expr hcl.Expression) bool {
	node, ok := expr.(hclsyntax.Node)
	return !ok || cheapNode(node) // JSON is evaluated as it stands
}

func cheapNode(node hclsyntax.Node) bool {
	fine := printableNumbers(node)
	hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		if loop, ok := n.(*hclsyntax.ForExpr); ok && !limited(loop) {
			fine = false
		}
		return nil
	})
	return fine
}

// printableNumbers reports whether all numbers that stand in an expression can be
// printed.
func printableNumbers(node hclsyntax.Node) bool {
	fine := true
	hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		if literal, ok := n.(*hclsyntax.LiteralValueExpr); ok && literal.Val.Type() == cty.Number && !literal.Val.IsNull() {
			// The parser leaves a number unknown that is too large for it.
			fine = fine && literal.Val.IsKnown() && printable(literal.Val.AsBigFloat())
		}
		return nil
	})
	return fine
}

func printable(number *big.Float) bool {
	exponent := number.MantExp(nil)
	return !number.IsInf() && -maxExponent < exponent && exponent < maxExponent
}

// Native returns an expression of the native syntax; false if there is none. In
// the JSON syntax it is inside a string.
func Native(expr hcl.Expression) (hclsyntax.Expression, bool) {
	if !json.IsJSONExpression(expr) {
		native, ok := expr.(hclsyntax.Expression)
		return native, ok
	}
	src, ok := Literal(expr)
	if !ok || TooDeep([]byte(src), false) {
		return nil, false
	}
	native, diags := hclsyntax.ParseExpression([]byte(src), expr.Range().Filename, expr.Range().Start)
	return native, !diags.HasErrors()
}

// StepName returns the name at a step of an address; "" if there is none.
func StepName(steps hcl.Traversal, i int) string {
	if i >= len(steps) {
		return ""
	}
	switch step := steps[i].(type) {
	case hcl.TraverseRoot:
		return step.Name
	case hcl.TraverseAttr:
		return step.Name
	}
	return ""
}

// SkipKey returns the steps without an instance key at their beginning.
func SkipKey(steps hcl.Traversal) hcl.Traversal {
	if len(steps) > 0 {
		if _, ok := steps[0].(hcl.TraverseIndex); ok {
			return steps[1:]
		}
	}
	return steps
}

// CheckCheap returns a problem unless every expression of a body is cheap, also if
// its value is turned into a string.
func CheckCheap(body hcl.Body) *hcl.Diagnostic {
	at := body.MissingItemRange()
	if native, ok := body.(*hclsyntax.Body); ok && cheapNode(native) {
		return nil
	} else if ok {
		at = native.SrcRange
	} else if cheapJSON(body) {
		return nil
	}
	return diagnostic.Error(at, "Unsuitable value type",
		"Simple values are required here: no numbers with thousands of digits.")
}

// cheapJSON reports whether all numbers in a body in JSON can be written out.
// Taken as arguments, nested blocks are objects. What else is wrong is reported when
// the body is decoded.
func cheapJSON(body hcl.Body) bool {
	attributes, _ := body.JustAttributes()
	for _, attr := range attributes {
		value, _ := attr.Expr.Value(nil)
		err := cty.Walk(value, func(_ cty.Path, v cty.Value) (bool, error) {
			if v.Type() == cty.Number && v.IsKnown() && !v.IsNull() && !printable(v.AsBigFloat()) {
				return false, errUnprintable
			}
			return true, nil
		})
		if err != nil {
			return false
		}
	}
	return true
}

var errUnprintable = errors.New("a number has thousands of digits")
