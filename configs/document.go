package configs

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfdeps/tfdeps/getproviders"
)

// document is what one file declares, in its order, before it is put together
// with the other files.
type document struct {
	product  getproviders.Product
	rules    map[string]rule
	override bool // declarations change those of other files

	declared  []declaration
	versions  []RequiredVersion // nil: no argument; empty: none that counts
	required  []requiredBlock
	backends  []Backend
	providers []*providerConfig
	users     []*user
	calls     []*callBlock
	variables []*variable
	values    []*hcl.Attribute // local values
	imports   []*importTarget
	runs      []TestRun // of a test file

	diags hcl.Diagnostics
}

// key identifies a declaration in a module.
type key struct {
	block string // "resource", "local", ...
	typ   string // of resources; the local name of providers
	name  string // the alias of providers
}

// declaration is a block, or a local value, whose key may occur only once.
type declaration struct {
	key
	rng hcl.Range
}

// requiredBlock is a required_providers block.
type requiredBlock struct {
	entries []*requiredProvider // sorted by local name
	header  hcl.Range
}

// report adds problems to those of the file.
func (d *document) report(diags ...*hcl.Diagnostic) { d.diags = append(d.diags, diags...) }

// declare notes that something was declared, for duplicates and overrides.
func (d *document) declare(rng hcl.Range, block, typ, name string) key {
	k := key{block, typ, name}
	d.declared = append(d.declared, declaration{k, rng})
	return k
}

// decode reads the blocks of a file.
func (d *document) decode(file hcl.Body) {
	content, diags := file.Content(header(d.rules))
	d.report(diags...)
	for _, block := range content.Blocks {
		r := d.rules[block.Type]
		r.decode(d, block, d.content(block.Body, r))
	}
}

// content reads a body as its rule says.
func (d *document) content(b hcl.Body, r rule) *hcl.BodyContent {
	if r.body == nil {
		return nil
	}
	schema := r.body
	if d.override {
		schema = optional(schema)
	}
	if !r.open {
		content, diags := b.Content(schema)
		d.report(diags...)
		return content
	}
	content, _, diags := b.PartialContent(schema)
	d.report(diags...)
	return content
}

// checkName reports a label that is no identifier, and whether it is one.
func (d *document) checkName(what, name string, at hcl.Range) bool {
	valid := hclsyntax.ValidIdentifier(name)
	if !valid {
		d.report(Problem(at, "Invalid "+what,
			"%q can't be used as a name: a letter or underscore has to come first, then letters, digits, underscores and dashes.", name))
	}
	return valid
}

// checkConditions reads blocks that check something.
func (d *document) checkConditions(blocks hcl.Blocks) {
	for _, block := range blocks {
		content, diags := block.Body.Content(condition())
		d.report(diags...)
		if attr, ok := content.Attributes["condition"]; ok && len(references(attr.Expr)) == 0 {
			d.report(Problem(attr.Expr.Range(), "Invalid "+block.Type+" expression",
				"The condition refers to nothing, so that its result is always the same."))
		}
	}
}

// checkConstants reports arguments that refer to something and mustn't.
func (d *document) checkConstants(attrs hcl.Attributes, names ...string) {
	for _, name := range names {
		if attr, ok := attrs[name]; ok {
			d.checkConstant(attr)
		}
	}
}

// checkReservedBlocks reports blocks whose names have no meaning in a type of
// block.
func (d *document) checkReservedBlocks(content *hcl.BodyContent, in string, names ...string) {
	for _, name := range names {
		for _, block := range content.Blocks.OfType(name) {
			d.report(Problem(block.TypeRange, "Reserved block type name in "+in+" block",
				"Blocks of type %q have no meaning here; the name is reserved.", name))
		}
	}
}

// checkOnce reports every block of a type but the first.
func (d *document) checkOnce(content *hcl.BodyContent, name, summary string) {
	blocks := content.Blocks.OfType(name)
	for _, block := range blocks[min(1, len(blocks)):] {
		d.report(Problem(block.DefRange, summary, "There is one already at %s.", blocks[0].DefRange))
	}
}
