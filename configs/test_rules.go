package configs

import (
	"github.com/hashicorp/hcl/v2"

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
		d.report(Problem(attr.Expr.Range(), "Version constraints are not allowed in test files",
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
			d.report(Problem(inner.LabelRanges[0], "Duplicate "+inner.Type+" block",
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
		d.report(Problem(block.DefRange, "Missing target attribute",
			"The block says whose values it gives with the argument \"target\"."))
	}
	d.checkAddress(content.Attributes["target"])
}
