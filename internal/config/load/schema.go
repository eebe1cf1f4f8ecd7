package load

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
)

// What is decoded, and what is found to be wrong, differs from Terraform on purpose
// as follows.
//
// Problems come in the order of files and positions, each once, all with their
// place; of several entries for one provider the first by name counts as the right
// one, and of several empty blocks for one the first is reported. Files in which
// expressions stand inside one another more than ten thousand levels deep, or
// version constraints that would take loops to compute, are errors instead of
// crashes. In a run's module block, a version that is null means any. Whether there is
// what test files refer to is left to the tests. Values for variables are read and checked, and conditions of
// variables are, only where a variable is constant. Whether a provider
// configuration that is referred to exists is found by a plan.

// rule says how a kind of block is read.
type rule struct {
	labels []string
	body   *hcl.BodySchema // nil: decode reads the body itself
	open   bool            // a provider decides what else may stand in the body
	decode func(*document, *hcl.Block, *hcl.BodyContent)
}

// topLevel is the blocks that a configuration file may have. Arguments whose
// value no installer needs are there so that others are found to be mistakes.
func topLevel(product getproviders.Product) map[string]rule {
	rules := common()
	if !product.StaticModules {
		schema := rules["module"].body
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: "ignore_nested_deprecations"})
	}
	if product.Understands("language") {
		rules["language"] = rule{body: body("edition experiments", "compatible_with"), decode: (*document).languageBlock}
	}
	if product.Understands("enabled") {
		delete(rules, "action")
		rules["output"].body.Attributes = slices.DeleteFunc(rules["output"].body.Attributes, func(attr hcl.AttributeSchema) bool { return attr.Name == "type" })
	}
	if product.Understands("encryption") {
		schema := rules["terraform"].body
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: "encryption"})
	}
	return rules
}

// common is the blocks that all products have.
func common() map[string]rule {
	resource := func(attributes, blocks string) rule {
		return rule{
			labels: []string{"type", "name"},
			body:   body("provider count for_each depends_on "+attributes, "lifecycle locals _ "+blocks),
			open:   true,
			decode: (*document).resource,
		}
	}
	named := func(attributes, blocks string, decode func(*document, *hcl.Block, *hcl.BodyContent)) rule {
		return rule{labels: []string{"name"}, body: body(attributes, blocks), decode: decode}
	}
	provider := named("alias version count depends_on for_each source", "_ lifecycle locals", (*document).provider)
	module := named("source! version count for_each depends_on providers", "_ lifecycle locals provider:type", (*document).module)
	provider.open, module.open = true, true

	return map[string]rule{
		"terraform": {
			body: body("required_version experiments language",
				"backend:type cloud required_providers provider_meta:provider"),
			decode: (*document).terraform,
		},
		"required_providers": {decode: (*document).misplacedRequiredProviders},
		"provider":           provider,
		"module":             module,
		"variable": named("description default type sensitive nullable ephemeral const deprecated",
			"validation", (*document).variable),
		"output": named("description value! type depends_on sensitive ephemeral deprecated",
			"precondition postcondition", (*document).output),
		"check":     named("", "assert data:type:name", (*document).check),
		"locals":    {decode: (*document).locals},
		"resource":  resource("", "connection provisioner:type"),
		"data":      resource("", "connection provisioner:type"),
		"ephemeral": resource("", "connection provisioner:type"),
		"action":    {labels: []string{"type", "name"}, body: body("provider count for_each", "config"), decode: (*document).resource},
		"import":    {body: body("to! id identity provider for_each", ""), decode: (*document).importBlock},
		"moved":     {body: body("from! to!", ""), decode: (*document).moved},
		"removed":   {body: body("from!", "lifecycle connection provisioner:type"), decode: (*document).removed},
	}
}

// condition is the body of the blocks that check something.
func condition() *hcl.BodySchema { return body("condition! error_message!", "") }

// header is the schema of a whole file.
func header(rules map[string]rule) *hcl.BodySchema {
	schema := &hcl.BodySchema{}
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: name, LabelNames: rules[name].labels})
	}
	return schema
}

// body makes a schema from words: "name!" is a required argument, and
// "name:label:label" a block with labels.
func body(attributes, blocks string) *hcl.BodySchema {
	schema := &hcl.BodySchema{}
	for _, word := range strings.Fields(attributes) {
		name, required := strings.CutSuffix(word, "!")
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name, Required: required})
	}
	for _, word := range strings.Fields(blocks) {
		parts := strings.Split(word, ":")
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: parts[0], LabelNames: parts[1:]})
	}
	return schema
}

// optional is the schema for override files, which leave out what they don't
// change.
func optional(schema *hcl.BodySchema) *hcl.BodySchema {
	loose := &hcl.BodySchema{Attributes: slices.Clone(schema.Attributes), Blocks: schema.Blocks}
	for i := range loose.Attributes {
		loose.Attributes[i].Required = false
	}
	return loose
}
