package configs

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfdeps/tfdeps/configs/internal/diagnostic"
	"github.com/tfdeps/tfdeps/configs/static"
	"github.com/tfdeps/tfdeps/getproviders"
)

// testLevel is the blocks that a test file may have. Only those that init
// looks into are decoded further; for the others it matters that they have no
// argument that is a mistake.
func testLevel(product getproviders.Product) map[string]rule {
	variable := topLevel(product)["variable"]
	variable.decode = (*document).unread
	return map[string]rule{
		"run": {
			labels: []string{"name"},
			body: body("command providers expect_failures state_key parallel skip_cleanup",
				"module variables plan_options assert backend:type override_resource override_data override_module"),
			decode: (*document).run,
		},
		"provider": {
			labels: []string{"name"},
			body:   body("alias version count depends_on for_each source", "_ lifecycle locals"),
			open:   true,
			decode: (*document).testProvider,
		},
		"mock_provider": {
			labels: []string{"name"},
			body: body("alias source override_during",
				"mock_resource:type mock_data:type mock_ephemeral:type override_resource override_data"),
			decode: (*document).mockProvider,
		},
		"test":              {body: body("parallel skip_cleanup", ""), decode: (*document).unread},
		"variable":          variable,
		"variables":         {decode: (*document).testVariables},
		"override_resource": {body: overrideBody("override_resource"), decode: (*document).overrideTarget},
		"override_data":     {body: overrideBody("override_data"), decode: (*document).overrideTarget},
		"override_module":   {body: overrideBody("override_module"), decode: (*document).overrideTarget},
	}
}

// overrideBody is what a block has that gives a test the values of something.
func overrideBody(typ string) *hcl.BodySchema {
	if typ == "override_module" {
		return body("target outputs override_during", "")
	}
	return body("target values override_during", "")
}

// unread is for blocks whose content doesn't matter.
func (d *document) unread(*hcl.Block, *hcl.BodyContent) {}

// testVariables decodes a variables block, of which a file has one.
func (d *document) testVariables(block *hcl.Block, _ *hcl.BodyContent) {
	d.declare(block.DefRange, "variables", "", "")
	_, diags := block.Body.JustAttributes()
	d.report(diags...)
}

// testProvider decodes a provider block of a test file, which is no
// requirement.
func (d *document) testProvider(block *hcl.Block, content *hcl.BodyContent) {
	if attr, ok := content.Attributes["version"]; ok {
		d.report(diagnostic.Error(attr.Expr.Range(), "Version constraints are not allowed in test files",
			"The version constraint of a provider belongs in the required_providers block of the module under test."))
	}
	d.checkReservedArguments(content)
	d.checkReservedBlocks(content, "provider", "lifecycle", "locals")
	d.checkOnce(content, "_", "Duplicate escaping block")
	d.configuration(block, content)
}

// mockProvider decodes a mock_provider block.
func (d *document) mockProvider(block *hcl.Block, content *hcl.BodyContent) {
	d.configuration(block, content)
	types := map[string]hcl.Range{}
	for _, inner := range content.Blocks {
		if len(inner.Labels) == 0 {
			d.overrideTarget(inner, d.content(inner.Body, rule{body: overrideBody(inner.Type)}))
			continue
		}
		d.content(inner.Body, rule{body: body("defaults override_during", "")})
		name := inner.Type + " " + inner.Labels[0]
		if first, ok := types[name]; ok {
			d.report(diagnostic.Error(inner.LabelRanges[0], "Duplicate "+inner.Type+" block",
				"There is a %s block for %q already at %s.", inner.Type, inner.Labels[0], first))
			continue
		}
		types[name] = inner.DefRange
	}
}

// configuration declares a provider that tests use, real or not.
func (d *document) configuration(block *hcl.Block, content *hcl.BodyContent) {
	d.checkLocalName(block.Labels[0], block.DefRange)
	alias := ""
	if attr, ok := content.Attributes["alias"]; ok {
		alias = d.alias(attr)
	}
	d.declare(block.DefRange, "test provider", block.Labels[0], alias)
}

// overrideTarget decodes a block that says what values something has in tests.
func (d *document) overrideTarget(block *hcl.Block, content *hcl.BodyContent) {
	if _, ok := content.Attributes["target"]; !ok {
		d.report(diagnostic.Error(block.DefRange, "Missing target attribute",
			"The block says whose values it gives with the argument \"target\"."))
	}
	d.checkAddress(content.Attributes["target"])
}

// addTest takes over what a test file declares; name is relative to the module.
func (b *builder) addTest(name string, d *document) {
	seen := map[key]hcl.Range{}
	for _, declared := range d.declared {
		if first, ok := seen[declared.key]; ok {
			b.report(duplicate(declared, first))
			continue
		}
		seen[declared.key] = declared.rng
	}
	b.module.Tests = append(b.module.Tests, testKey(filepath.ToSlash(name)))
	taken := map[string]bool{}
	for _, run := range d.runs {
		if taken[run.Name] {
			continue
		}
		taken[run.Name] = true
		run.File = filepath.ToSlash(name)
		run.Key = runKey(run.File, run.Name)
		b.module.TestRuns = append(b.module.TestRuns, run)
	}
}

// Path is the module's place in the tree of modules, which no call can have.
func (r TestRun) Path() string {
	return "module." + strings.ReplaceAll(r.Key, ".", ".module.")
}

// runKey is the key under which a run's module is recorded. Only the suffix of
// the native syntax is cut off the file's name, as Terraform does.
func runKey(file, run string) string {
	return testKey(file) + "." + run
}

// testKey is what the keys of a test file's runs begin with.
func testKey(file string) string {
	parts := []string{"test"}
	if dir := path.Dir(file); dir != "." {
		parts = append(parts, strings.Split(dir, "/")...)
	}
	return strings.Join(append(parts, strings.TrimSuffix(path.Base(file), ".tftest.hcl")), ".")
}

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
	d.declare(block.LabelRanges[0], "run", "", name)
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
		d.report(diagnostic.Error(block.DefRange, "Missing \"source\" attribute for module block",
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
		d.report(diagnostic.Error(attr.Expr.Range(), "Invalid \""+attr.Name+"\" keyword",
			"The argument %q is one of the words %s or %s, without quotes.", attr.Name, words[0], words[1]))
	}
}

// checkArgument reports an argument that isn't of a type.
func (d *document) checkArgument(attr *hcl.Attribute, typ cty.Type) {
	if attr == nil {
		return
	}
	val, diags := static.Evaluate(attr.Expr)
	d.report(diags...)
	if diags.HasErrors() {
		return
	}
	if _, err := convert.Convert(val, typ); err != nil || val.IsNull() {
		d.report(diagnostic.Error(attr.Expr.StartRange(), "Unsuitable value type", "The value has to be a %s.", typ.FriendlyName()))
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
