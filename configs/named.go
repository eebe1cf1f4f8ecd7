package configs

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
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
		dependsOn:  d.dependsOn(content.Attributes["depends_on"]),
	}
	call.providers = d.passedProviders(content.Attributes["providers"])
	valid := d.checkName("module instance name", call.Name, block.LabelRanges[0])
	d.checkRepetition(content)
	d.checkReservedBlocks(content, "module", "lifecycle", "locals", "provider")
	d.checkOnce(content, "_", "Duplicate escaping block")
	d.declare(block.DefRange, "module", "", call.Name)
	if valid {
		d.calls = append(d.calls, call)
	}
}

// inputs are the arguments of a module block that are meant for the variables
// of the module.
func (d *document) inputs(block *hcl.Block, content *hcl.BodyContent) hcl.Attributes {
	_, rest, _ := block.Body.PartialContent(d.rules["module"].body)
	attrs := hcl.Attributes{}
	own, _ := rest.JustAttributes()
	maps.Copy(attrs, own)
	for _, escaping := range content.Blocks.OfType("_") {
		more, diags := escaping.Body.JustAttributes()
		d.report(diags...)
		maps.Copy(attrs, more)
	}
	return attrs
}

// variable decodes a variable block.
func (d *document) variable(block *hcl.Block, content *hcl.BodyContent) {
	name := block.Labels[0]
	d.checkName("variable name", name, block.LabelRanges[0])
	if reserved := []string{"source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"}; slices.Contains(reserved, name) {
		d.report(Problem(block.LabelRanges[0], "Invalid variable name",
			"No variable can be called %q, because that means something else in module blocks.", name))
	}
	if attr, ok := content.Attributes["type"]; ok {
		d.checkType(attr.Expr)
	}
	d.checkConstants(content.Attributes, "default", "description", "deprecated")
	for _, flag := range []string{"sensitive", "nullable", "ephemeral", "const"} {
		d.checkArgument(content.Attributes[flag], cty.Bool)
	}
	d.checkConditions(content.Blocks.OfType("validation"))
	d.checkValidations(name, content.Blocks.OfType("validation"))
	d.declare(block.DefRange, "variable", "", name)
	declared := &variable{name: name, attrs: hcl.Attributes{}, header: block.DefRange}
	maps.Copy(declared.attrs, content.Attributes)
	d.variables = append(d.variables, declared)
}

// checkValidations reports conditions that don't look at the variable.
func (d *document) checkValidations(name string, blocks hcl.Blocks) {
	for _, block := range blocks {
		content, _ := block.Body.Content(condition())
		attr, ok := content.Attributes["condition"]
		if ok && !slices.ContainsFunc(references(attr.Expr), func(t hcl.Traversal) bool { return refersTo(t, "var", name) }) {
			d.report(Problem(attr.Expr.Range(), "Invalid variable validation condition",
				"The condition has to refer to var.%s, or it says nothing about values of the variable %q.", name, name))
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
		d.report(Problem(expr.Range(), summary, "Types are written without quotes, like string or list(string)."))
		return
	}
	if keyword := hcl.ExprAsKeyword(expr); keyword == "list" || keyword == "map" {
		return // of anything, in the oldest way to write it
	}
	native, ok := embedded(expr)
	if !ok {
		d.report(Problem(expr.Range(), "Invalid type specification", "A type is a keyword like string, or a call like list(string)."))
		return
	}
	if !cheap(native) {
		return // the defaults of optional attributes would be evaluated
	}
	_, _, diags := typeexpr.TypeConstraintWithDefaults(expr)
	d.report(diags...)
}

// output decodes an output block.
func (d *document) output(block *hcl.Block, content *hcl.BodyContent) {
	d.checkName("output name", block.Labels[0], block.LabelRanges[0])
	d.checkConstants(content.Attributes, "description", "sensitive", "ephemeral", "deprecated")
	d.checkConditions(content.Blocks)
	d.dependsOn(content.Attributes["depends_on"])
	d.declare(block.DefRange, "output", "", block.Labels[0])
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

// moved decodes a moved block. What it says matters only to a plan.
func (d *document) moved(block *hcl.Block, content *hcl.BodyContent) {
	d.notInOverride(block, "Cannot override 'moved' blocks")
	d.checkAddress(content.Attributes["from"])
	d.checkAddress(content.Attributes["to"])
}

// removed decodes a removed block. A provider that only a removed block
// mentions is not a requirement.
func (d *document) removed(_ *hcl.Block, content *hcl.BodyContent) {
	d.checkAddress(content.Attributes["from"])
}

// checkAddress reports what isn't even like an address.
func (d *document) checkAddress(attr *hcl.Attribute) {
	if attr != nil {
		_, diags := hcl.AbsTraversalForExpr(attr.Expr)
		d.report(diags...)
	}
}

// notInOverride reports blocks that can't override anything.
func (d *document) notInOverride(block *hcl.Block, summary string) {
	if d.override {
		d.report(Problem(block.DefRange, summary, "Blocks of type %q can't stand in an override file.", block.Type))
	}
}
