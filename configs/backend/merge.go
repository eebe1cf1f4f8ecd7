package backend

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// merged is a body over another one. An argument of the upper replaces that
// of the lower; blocks of the upper replace all of their type.
type merged struct{ base, over hcl.Body }

// Content implements hcl.Body.
func (m merged) Content(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	base, diags := m.base.Content(schema)
	over, more := m.over.Content(schema)
	return overlay(base, over), append(diags, more...)
}

// PartialContent implements hcl.Body.
func (m merged) PartialContent(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	base, baseRest, diags := m.base.PartialContent(schema)
	over, overRest, more := m.over.PartialContent(schema)
	return overlay(base, over), merged{baseRest, overRest}, append(diags, more...)
}

// JustAttributes implements hcl.Body.
func (m merged) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	base, diags := m.base.JustAttributes()
	over, more := m.over.JustAttributes()
	return overAttributes(base, over), append(diags, more...)
}

// MissingItemRange implements hcl.Body.
func (m merged) MissingItemRange() hcl.Range { return m.base.MissingItemRange() }

func overlay(base, over *hcl.BodyContent) *hcl.BodyContent {
	isReplaced := func(b *hcl.Block) bool {
		return slices.ContainsFunc(over.Blocks, func(o *hcl.Block) bool { return o.Type == b.Type })
	}
	return &hcl.BodyContent{
		Attributes:       overAttributes(base.Attributes, over.Attributes),
		Blocks:           append(slices.DeleteFunc(slices.Clone(base.Blocks), isReplaced), over.Blocks...),
		MissingItemRange: base.MissingItemRange,
	}
}

func overAttributes(base, over hcl.Attributes) hcl.Attributes {
	all := hcl.Attributes{}
	for _, attributes := range []hcl.Attributes{base, over} {
		for name, attr := range attributes {
			all[name] = attr
		}
	}
	return all
}

// argument is a body with nothing but one argument, which is known to belong there.
type argument struct{ attr *hcl.Attribute }

// Content implements hcl.Body.
func (a argument) Content(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	content, _, diags := a.PartialContent(schema)
	return content, diags
}

// PartialContent implements hcl.Body.
func (a argument) PartialContent(*hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	all, diags := a.JustAttributes()
	return &hcl.BodyContent{Attributes: all, MissingItemRange: a.MissingItemRange()}, hcl.EmptyBody(), diags
}

// JustAttributes implements hcl.Body.
func (a argument) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	return hcl.Attributes{a.attr.Name: a.attr}, nil
}

// MissingItemRange implements hcl.Body.
func (a argument) MissingItemRange() hcl.Range { return a.attr.Range }
