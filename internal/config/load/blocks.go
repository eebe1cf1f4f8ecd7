package load

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// moduleBlock decodes a module block, as far as installing modules needs it. A call with an invalid
// name is left out, because names become directories.
func (d *document) moduleBlock(b *block) {
	call := &ModuleCall{
		Name: b.Labels[0], Range: b.DefRange, own: b.attrs, arguments: d.moduleInputs(b), enabled: b.enabledBy(),
		dependsOn: d.readDependsOn(b.attrs["depends_on"]),
	}
	call.providers = d.passedProviders(b.attrs["providers"])
	call.blocks = d.otherBlocks(b)
	valid := d.checkName("module instance name", call.Name, b.LabelRanges[0])
	d.checkRepetition(b)
	if attr := b.attrs["ignore_nested_deprecations"]; attr != nil {
		val, diags := static.Evaluate(attr.Expr)
		if diags.HasErrors() || val.Type() != cty.Bool || val.IsNull() {
			d.error(attr.Expr.Range(), "Invalid value for ignore_nested_deprecations", "The value has to be true or false.")
		}
	}
	var usable any
	if valid {
		usable = call
	}
	d.declare(b.DefRange, key{"module", "", call.Name}, usable)
}

// moduleInputs returns the arguments of a module block for the module's variables.
func (d *document) moduleInputs(b *block) hcl.Attributes {
	attrs, _ := b.rest.JustAttributes()
	for _, escaping := range b.of("_") {
		more, diags := escaping.Body.JustAttributes()
		if d.product.Understands("escaped_blocks") {
			d.report(diags...)
		}
		maps.Copy(attrs, more)
	}
	return attrs
}

// otherBlocks returns the problems of blocks that a module block can't have.
func (d *document) otherBlocks(b *block) hcl.Diagnostics {
	known := &hcl.BodySchema{}
	attrs, _ := b.rest.JustAttributes()
	for name := range attrs {
		known.Attributes = append(known.Attributes, hcl.AttributeSchema{Name: name})
	}
	_, diags := b.rest.Content(known)
	return d.leave("module", diags)
}

// variable decodes a variable block.
func (d *document) variable(b *block) {
	name := b.Labels[0]
	d.checkName("variable name", name, b.LabelRanges[0])
	if d.grammar.holds("module", name) {
		d.error(b.LabelRanges[0], "Invalid variable name",
			"No variable can be called %q, because that means something else in module blocks.", name)
	}
	d.checkDeprecated(b.attrs["deprecated"], "Invalid `deprecated` value")
	d.checkIgnored(b.attrs["type"], b.attrs["default"])
	d.checkConst(b)
	declared := &static.Variable{Name: name, Attrs: b.attrs, Header: b.DefRange}
	for _, validation := range b.of("validation") {
		attr := validation.attrs["condition"]
		if attr == nil {
			continue
		}
		declared.Validations = append(declared.Validations, static.Validation{Condition: attr, Message: validation.attrs["error_message"]})
		if !slices.ContainsFunc(static.References(attr.Expr), func(t hcl.Traversal) bool { return t.RootName() == "var" && static.StepName(t, 1) == name }) {
			d.error(attr.Expr.Range(), "Invalid variable validation condition",
				"The condition has to refer to var.%s, or it says nothing about values of the variable %q.", name, name)
		}
	}
	d.declare(b.DefRange, key{"variable", "", name}, declared)
}

// checkConst reports const variables that are secret, because their values decide what is
// installed. OpenTofu reports them only if a value would be shown.
func (d *document) checkConst(b *block) {
	if !d.product.Understands("const_secrets") || !static.IsTrue(b.attrs["const"]) {
		return
	}
	for _, flag := range []string{"sensitive", "ephemeral"} {
		if static.IsTrue(b.attrs[flag]) {
			d.error(b.DefRange, "Const variable cannot be "+flag,
				"The value of a variable with const = true decides what is installed, and is shown: it can't have %s = true as well.", flag)
		}
	}
}

// checkType reports an invalid type.
func (d *document) checkType(expr hcl.Expression) {
	if old, ok := quoted(expr); ok {
		summary := "Invalid legacy variable type hint"
		if slices.Contains([]string{"string", "list", "map"}, old) {
			summary = "Invalid quoted type constraints"
		}
		d.error(expr.Range(), summary, "Types are written without quotes, like string or list(string).")
		return
	}
	if _, ok := static.Native(expr); !ok {
		d.error(expr.Range(), "Invalid type specification", "A type is a keyword like string, or a call like list(string).")
		return
	}
	_, _, diags := static.Type(expr)
	d.report(diags...)
}

// output decodes an output block.
func (d *document) output(b *block) {
	d.checkName("output name", b.Labels[0], b.LabelRanges[0])
	d.checkDeprecated(b.attrs["deprecated"], "Invalid `deprecated` attribute")
	for _, post := range b.of("postcondition") {
		d.error(post.TypeRange, "Postconditions are not allowed", "An output value has preconditions only.")
	}
	d.readDependsOn(b.attrs["depends_on"])
	d.declare(b.DefRange, key{"output", "", b.Labels[0]}, nil)
}

// checkDeprecated reports an empty reason, if the product refuses that.
func (d *document) checkDeprecated(attr *hcl.Attribute, summary string) {
	if attr == nil || !d.grammar.holds("variable", "deprecated_says") {
		return
	}
	d.checkArgument(attr, cty.String)
	if reason, ok := static.Literal(attr.Expr); ok && strings.TrimSpace(reason) == "" {
		d.error(attr.Expr.Range(), summary, "The argument \"deprecated\" says what to use instead, and can't be empty.")
	}
}

// locals decodes a locals block.
func (d *document) locals(b *block) {
	attrs, diags := b.Body.JustAttributes()
	d.report(diags...)
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		d.checkName("local value name", name, attrs[name].NameRange)
		d.declare(attrs[name].Range, key{"local", "", name}, attrs[name])
	}
}

// checkIgnored warns of attributes in a variable's default value that its type doesn't have: the
// conversion to the type drops them silently.
func (d *document) checkIgnored(typ, value *hcl.Attribute) {
	if typ == nil || value == nil || !d.grammar.holds("variable", "ignored_attributes") {
		return
	}
	if wanted, _, _ := static.Type(typ.Expr); wanted != cty.NilType {
		d.findIgnored(value.Expr, wanted)
	}
}

// findIgnored checks the literal parts of an expression whose value is converted to a type.
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
		d.warn(item.KeyExpr.Range(), "Object attribute is ignored",
			"The type of the variable has no attribute %q there, so what is written here has no effect.", name)
	}
}

// literalKey returns the name of an attribute that is a word or a string literal.
func literalKey(expr hcl.Expression) (name string, ok bool) {
	if name = hcl.ExprAsKeyword(expr); name != "" {
		return name, true
	}
	if key, ok := expr.(*hclsyntax.ObjectConsKeyExpr); ok {
		return quoted(key.Wrapped)
	}
	return "", false
}
