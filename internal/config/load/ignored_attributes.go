package load

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static"
)

// checkIgnored warns of attributes in a variable's default value that its type doesn't have: they get lost
// without a word when the value is converted.
func (d *document) checkIgnored(typ, value *hcl.Attribute) {
	if typ == nil || value == nil || !d.grammar.holds("variable", "ignored_attributes") {
		return
	}
	native, ok := static.Native(typ.Expr)
	if !ok || !static.Cheap(native) {
		return
	}
	wanted, _, diags := typeexpr.TypeConstraintWithDefaults(typ.Expr)
	if !diags.HasErrors() {
		d.findIgnored(value.Expr, wanted)
	}
}

// findIgnored looks at what is written out in an expression whose value becomes one of a type.
func (d *document) findIgnored(expr hcl.Expression, typ cty.Type) {
	switch expr := expr.(type) {
	case *hclsyntax.ObjectConsExpr:
		for _, item := range expr.Items {
			d.findIgnoredItem(item, typ)
		}
	case *hclsyntax.TupleConsExpr:
		for i, element := range expr.Exprs {
			switch {
			case typ.IsListType() || typ.IsSetType():
				d.findIgnored(element, typ.ElementType())
			case typ.IsTupleType() && i < typ.Length():
				d.findIgnored(element, typ.TupleElementType(i))
			}
		}
	case *hclsyntax.ForExpr:
		if typ.IsCollectionType() {
			d.findIgnored(static.Uncounted(expr.ValExpr), typ.ElementType())
		}
	}
}

func (d *document) findIgnoredItem(item hclsyntax.ObjectConsItem, typ cty.Type) {
	name, literal := literalKey(item.KeyExpr)
	switch {
	case typ.IsMapType():
		d.findIgnored(item.ValueExpr, typ.ElementType())
	case !typ.IsObjectType() || !literal:
	case typ.HasAttribute(name):
		d.findIgnored(item.ValueExpr, typ.AttributeType(name))
	default:
		d.report(diagnostic.Warning(item.KeyExpr.Range(), "Object attribute is ignored",
			"The type of the variable has no attribute %q there, so that what is written here has no effect.", name))
	}
}

// literalKey is the name of an attribute that is written as a word or as text.
func literalKey(expr hcl.Expression) (name string, ok bool) {
	if name = hcl.ExprAsKeyword(expr); name != "" {
		return name, true
	}
	key, ok := expr.(*hclsyntax.ObjectConsKeyExpr)
	if !ok {
		return "", false
	}
	text, ok := key.Wrapped.(*hclsyntax.TemplateExpr)
	if !ok || !text.IsStringLiteral() {
		return "", false
	}
	value, diags := text.Value(nil)
	if diags.HasErrors() || value.Type() != cty.String {
		return "", false
	}
	return value.AsString(), true
}
