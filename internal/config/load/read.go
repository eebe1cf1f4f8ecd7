package load

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// read reads a block, with those in it, as the lines of a name say.
func (d *document) read(given *hcl.Block, in string) *block {
	b, f := &block{Block: given}, d.grammar.form(in)
	if len(f.schema.Attributes)+len(f.schema.Blocks) == 0 && !f.open {
		return b
	}
	schema := f.schema
	if d.override {
		schema = optional(schema)
	}
	content, diags := (*hcl.BodyContent)(nil), hcl.Diagnostics(nil)
	if f.open {
		content, b.rest, diags = b.Body.PartialContent(schema)
	} else {
		content, diags = b.Body.Content(schema)
	}
	d.report(d.leave(in, diags)...)
	b.attrs, b.broken = content.Attributes, diags.HasErrors()
	for _, argument := range schema.Attributes {
		attr, r := b.attrs[argument.Name], f.rows[argument.Name]
		switch {
		case attr == nil:
		case r.kind == "refused":
			d.error(attr.NameRange, refusal(in, "argument", d.grammar), "The argument %q has no meaning here; the name is reserved.", r.name)
		default:
			d.checkKind(attr, r)
		}
	}
	first := map[string]hcl.Range{}
	for _, inner := range content.Blocks {
		r := f.rows[inner.Type]
		if at, ok := first[r.name]; !ok {
			first[r.name] = inner.DefRange
		} else if r.once {
			d.error(inner.DefRange, again(in, r.name), "There is one already at %s.", at)
		}
		b.blocks = append(b.blocks, d.readInner(inner, in, r))
	}
	return b
}

// readInner reads a block in another one.
func (d *document) readInner(given *hcl.Block, in string, r row) *block {
	switch {
	case d.override && in == "check": // which is a problem as a whole
	case r.kind == "block":
		return d.read(given, r.name)
	case r.kind == "form":
		return d.read(given, in+"."+r.name)
	case r.kind == "condition":
		return d.readCondition(given)
	case r.kind == "refused-block":
		d.error(given.TypeRange, refusal(in, "block", d.grammar), "Blocks of type %q have no meaning here; the name is reserved.", r.name)
	}
	return &block{Block: given}
}

// readCondition reads a block that checks something.
func (d *document) readCondition(given *hcl.Block) *block {
	if d.override {
		d.notInOverride(given, fmt.Sprintf("Can't override %s blocks", given.Type))
		return &block{Block: given}
	}
	b := d.read(given, "condition")
	if attr, ok := b.attrs["condition"]; ok && len(static.References(attr.Expr)) == 0 {
		d.error(attr.Expr.Range(), "Invalid "+b.Type+" expression", "The condition refers to nothing, so that its result is always the same.")
	}
	return b
}
