package load

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static"
)

// module decodes a module block. Only what has to be known before modules are
// installed is read. A call whose name can't be used is left out: names become
// those of directories.
func (d *document) module(block *hcl.Block, content *hcl.BodyContent) {
	call := &callBlock{
		ModuleCall: ModuleCall{Name: block.Labels[0], Range: block.DefRange},
		source:     content.Attributes["source"],
		version:    content.Attributes["version"],
		inputs:     d.inputs(block, content),
		count:      content.Attributes["count"],
		forEach:    content.Attributes["for_each"],
		enabled:    d.enabled(content),
		dependsOn:  d.dependsOn(content.Attributes["depends_on"]),
	}
	call.providers = d.passedProviders(content.Attributes["providers"])
	call.blocks = d.otherBlocks(block)
	valid := d.checkName("module instance name", call.Name, block.LabelRanges[0])
	d.checkRepetition(content)
	if attr := content.Attributes["ignore_nested_deprecations"]; attr != nil {
		val, diags := static.Evaluate(attr.Expr)
		if diags.HasErrors() || val.Type() != cty.Bool || val.IsNull() {
			d.error(attr.Expr.Range(), "Invalid value for ignore_nested_deprecations", "The value has to be true or false.")
		}
	}
	d.declare(block.DefRange, "module", "", call.Name)
	if valid {
		d.calls = append(d.calls, call)
	}
}

// inputs are the arguments of a module block that are meant for the variables
// of the module.
func (d *document) inputs(block *hcl.Block, content *hcl.BodyContent) hcl.Attributes {
	_, rest, _ := block.Body.PartialContent(d.grammar.form("module").schema)
	attrs := hcl.Attributes{}
	own, _ := rest.JustAttributes()
	maps.Copy(attrs, own)
	for _, escaping := range content.Blocks.OfType("_") {
		more, diags := escaping.Body.JustAttributes()
		if !d.product.StaticModules { // OpenTofu leaves blocks to a plan
			d.report(diags...)
		}
		maps.Copy(attrs, more)
	}
	return attrs
}

// otherBlocks are the problems with blocks in a module block that have no meaning.
func (d *document) otherBlocks(block *hcl.Block) hcl.Diagnostics {
	_, rest, _ := block.Body.PartialContent(d.grammar.form("module").schema)
	known := &hcl.BodySchema{}
	attrs, _ := rest.JustAttributes()
	for name := range attrs {
		known.Attributes = append(known.Attributes, hcl.AttributeSchema{Name: name})
	}
	_, diags := rest.Content(known)
	return d.leave("module", diags)
}

// variable decodes a variable block.
func (d *document) variable(block *hcl.Block, content *hcl.BodyContent) {
	name := block.Labels[0]
	d.checkName("variable name", name, block.LabelRanges[0])
	if reserved := []string{"source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"}; slices.Contains(reserved, name) {
		d.error(block.LabelRanges[0], "Invalid variable name",
			"No variable can be called %q, because that means something else in module blocks.", name)
	}
	d.checkDeprecated(content.Attributes["deprecated"], "Invalid `deprecated` value")
	d.checkIgnored(content.Attributes["type"], content.Attributes["default"])
	d.checkConst(block, content)
	d.checkValidations(name, content.Blocks.OfType("validation"))
	d.declare(block.DefRange, "variable", "", name)
	declared := &static.Variable{Name: name, Attrs: hcl.Attributes{}, Header: block.DefRange}
	maps.Copy(declared.Attrs, content.Attributes)
	for _, block := range content.Blocks.OfType("validation") {
		own, _ := block.Body.Content(d.grammar.form("condition").schema)
		if own.Attributes["condition"] != nil {
			declared.Validations = append(declared.Validations, static.Validation{Condition: own.Attributes["condition"], Message: own.Attributes["error_message"]})
		}
	}
	d.variables = append(d.variables, declared)
}

// checkConst reports secrets that are to be known before anything is installed; to OpenTofu they
// are a mistake only where they are shown.
func (d *document) checkConst(block *hcl.Block, content *hcl.BodyContent) {
	if d.product.StaticModules || !static.IsTrue(content.Attributes["const"]) {
		return
	}
	for _, flag := range []string{"sensitive", "ephemeral"} {
		if static.IsTrue(content.Attributes[flag]) {
			d.error(block.DefRange, "Const variable cannot be "+flag,
				"The value of a variable with const = true decides what is installed, and is shown: it can't have %s = true as well.", flag)
		}
	}
}

// checkValidations reports conditions that don't look at the variable.
func (d *document) checkValidations(name string, blocks hcl.Blocks) {
	for _, block := range blocks {
		content, _ := block.Body.Content(d.grammar.form("condition").schema)
		attr, ok := content.Attributes["condition"]
		if ok && !slices.ContainsFunc(static.References(attr.Expr), func(t hcl.Traversal) bool { return refersTo(t, "var", name) }) {
			d.error(attr.Expr.Range(), "Invalid variable validation condition",
				"The condition has to refer to var.%s, or it says nothing about values of the variable %q.", name, name)
		}
	}
}

// refersTo reports whether a traversal begins with root.name.
func refersTo(t hcl.Traversal, root, name string) bool {
	if len(t) < 2 || t.RootName() != root {
		return false
	}
	attr, ok := t[1].(hcl.TraverseAttr)
	return ok && attr.Name == name
}

// checkType reports what is no type.
func (d *document) checkType(expr hcl.Expression) {
	if old, ok := quoted(expr); ok {
		summary := "Invalid legacy variable type hint"
		if slices.Contains([]string{"string", "list", "map"}, old) {
			summary = "Invalid quoted type constraints"
		}
		d.error(expr.Range(), summary, "Types are written without quotes, like string or list(string).")
		return
	}
	if keyword := hcl.ExprAsKeyword(expr); keyword == "list" || keyword == "map" {
		return // of anything, in the oldest way to write it
	}
	native, ok := static.Native(expr)
	if !ok {
		d.error(expr.Range(), "Invalid type specification", "A type is a keyword like string, or a call like list(string).")
		return
	}
	if !static.Cheap(native) {
		return // the defaults of optional attributes would be evaluated
	}
	_, _, diags := typeexpr.TypeConstraintWithDefaults(expr)
	d.report(diags...)
}

// output decodes an output block.
func (d *document) output(block *hcl.Block, content *hcl.BodyContent) {
	d.checkName("output name", block.Labels[0], block.LabelRanges[0])
	d.checkDeprecated(content.Attributes["deprecated"], "Invalid `deprecated` attribute")
	for _, post := range content.Blocks.OfType("postcondition") {
		d.error(post.TypeRange, "Postconditions are not allowed", "An output value has preconditions only.")
	}
	d.dependsOn(content.Attributes["depends_on"])
	d.declare(block.DefRange, "output", "", block.Labels[0])
}

// checkDeprecated reports a reason that says nothing, where that is refused.
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
func (d *document) locals(block *hcl.Block, _ *hcl.BodyContent) {
	attrs, diags := block.Body.JustAttributes()
	d.report(diags...)
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		d.checkName("local value name", name, attrs[name].NameRange)
		d.declare(attrs[name].Range, "local", "", name)
		d.values = append(d.values, attrs[name])
	}
}

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
