package configs

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// TestRun is a run block of a test file that has a module of its own instead
// of the one under test: the root of a further tree of modules, whose
// requirements count like those of the configuration.
type TestRun struct {
	File string // relative to the module's directory, with slashes: "tests/a.tftest.hcl"
	Name string // of the run block
	Key  string // of the module in modules.json: "test.tests.a.name"
	Call ModuleCall
}

// run decodes a run block.
func (d *document) run(block *hcl.Block, content *hcl.BodyContent) {
	name := block.Labels[0]
	valid := d.checkName("run block name", name, block.LabelRanges[0])
	d.declare(block.DefRange, "run", "", name)
	for _, once := range []string{"module", "variables", "plan_options"} {
		d.checkOnce(content, once, "Multiple \""+once+"\" blocks")
	}
	d.checkRunArguments(content)
	d.checkConditions(content.Blocks.OfType("assert"))
	for _, inner := range content.Blocks {
		switch inner.Type {
		case "variables":
			_, diags := inner.Body.JustAttributes()
			d.report(diags...)
		case "plan_options":
			d.planOptions(d.content(inner.Body, rule{body: body("mode refresh replace target", "")}))
		case "override_resource", "override_data", "override_module":
			d.overrideTarget(inner, d.content(inner.Body, rule{body: overrideBody(inner.Type)}))
		}
	}
	if own := content.Blocks.OfType("module"); len(own) > 0 {
		if call := d.runModule(own[0]); call != nil && valid {
			call.Name = name
			d.runs = append(d.runs, TestRun{Name: name, Call: *call})
		}
	}
}

// runModule decodes the module block of a run. It is nil if there is no source.
func (d *document) runModule(block *hcl.Block) *ModuleCall {
	content := d.content(block.Body, rule{body: body("source version", "")})
	source, ok := content.Attributes["source"]
	if !ok {
		d.report(Problem(block.DefRange, "Missing \"source\" attribute for module block",
			"A run that has a module block tests the module that the argument \"source\" names."))
		return nil
	}
	call := &ModuleCall{Range: block.DefRange}
	call.readSource(source, nil)
	call.readVersion(content.Attributes["version"], nil)
	return call
}

func (d *document) checkRunArguments(content *hcl.BodyContent) {
	d.checkKeyword(content.Attributes["command"], "apply", "plan")
	d.checkArgument(content.Attributes["state_key"], cty.String)
	d.checkArgument(content.Attributes["parallel"], cty.Bool)
	d.checkArgument(content.Attributes["skip_cleanup"], cty.Bool)
	d.passedProviders(content.Attributes["providers"])
	d.checkAddresses(content.Attributes["expect_failures"])
}

// planOptions checks the options of a plan that a test makes.
func (d *document) planOptions(content *hcl.BodyContent) {
	d.checkKeyword(content.Attributes["mode"], "normal", "refresh-only")
	d.checkArgument(content.Attributes["refresh"], cty.Bool)
	d.checkAddresses(content.Attributes["replace"])
	d.checkAddresses(content.Attributes["target"])
}

// checkKeyword reports an argument that isn't one of some words.
func (d *document) checkKeyword(attr *hcl.Attribute, words ...string) {
	if attr != nil && !slices.Contains(words, hcl.ExprAsKeyword(attr.Expr)) {
		d.report(Problem(attr.Expr.Range(), "Invalid \""+attr.Name+"\" keyword",
			"The argument %q is one of the words %s or %s, without quotes.", attr.Name, words[0], words[1]))
	}
}

// checkArgument reports an argument that isn't of a type.
func (d *document) checkArgument(attr *hcl.Attribute, typ cty.Type) {
	if attr == nil {
		return
	}
	val, diags := evaluate(attr.Expr)
	d.report(diags...)
	if diags.HasErrors() {
		return
	}
	if _, err := convert.Convert(val, typ); err != nil || val.IsNull() {
		d.report(Problem(attr.Expr.StartRange(), "Unsuitable value type", "The value has to be a %s.", typ.FriendlyName()))
	}
}

// checkAddresses reports what is no list of addresses.
func (d *document) checkAddresses(attr *hcl.Attribute) {
	if attr == nil {
		return
	}
	list, diags := hcl.ExprList(attr.Expr)
	d.report(diags...)
	for _, expr := range list {
		if traversal, _ := d.unquoted(expr); len(traversal) > 0 {
			continue
		}
		_, diags := hcl.AbsTraversalForExpr(expr)
		d.report(diags...)
	}
}
