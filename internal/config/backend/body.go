package backend

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
)

// Values of bodies are the same as those of HCL's package hcldec, with which Terraform decodes them: the hash of
// a block depends on them. hcldec isn't imported, because it imports encoding/gob and registers types before
// main.

// decode reads a body. Required arguments may be missing, because -backend-config can set them later.
// The value is always complete; arguments that can't be decoded are unknown in it.
func (s *schema) decode(body hcl.Body, context *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	content, diags := body.Content(s.body())
	value, more := s.value(content, context)
	return value, append(diags, more...)
}

// value returns the value of a body's content.
func (s *schema) value(content *hcl.BodyContent, context *hcl.EvalContext) (_ cty.Value, diags hcl.Diagnostics) {
	values := map[string]cty.Value{}
	for _, name := range slices.Sorted(maps.Keys(s.Attributes)) {
		value, more := s.Attributes[name].decode(name, content.Attributes[name], context)
		values[name], diags = value, append(diags, more...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Blocks)) {
		blocks := content.Blocks.OfType(name)
		decode := s.Blocks[name].decodeOne
		if s.Blocks[name].Set || s.Blocks[name].List {
			decode = s.Blocks[name].decodeAll
		}
		value, more := decode(name, blocks, context)
		values[name], diags = value, append(diags, more...)
	}
	return cty.ObjectVal(values), diags
}

// body returns the HCL schema of a body.
func (s *schema) body() *hcl.BodySchema {
	var body hcl.BodySchema
	for _, name := range slices.Sorted(maps.Keys(s.Attributes)) {
		body.Attributes = append(body.Attributes, hcl.AttributeSchema{Name: name})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Blocks)) {
		body.Blocks = append(body.Blocks, hcl.BlockHeaderSchema{Type: name})
	}
	return &body
}

// valueType returns the type of a decoded body.
func (s *schema) valueType() cty.Type {
	types := map[string]cty.Type{}
	for name, attr := range s.Attributes {
		types[name] = attr.cty.WithoutOptionalAttributesDeep()
	}
	for name, nested := range s.Blocks {
		switch t := nested.valueType(); {
		case nested.Set:
			types[name] = cty.Set(t)
		case nested.List:
			types[name] = cty.List(t)
		default:
			types[name] = t
		}
	}
	return cty.Object(types)
}

// decode reads an argument. A nil argument is null.
func (t valueType) decode(name string, attr *hcl.Attribute, context *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if attr == nil {
		return cty.NullVal(t.cty.WithoutOptionalAttributesDeep()), nil
	}
	value, diags := attr.Expr.Value(context)
	value, err := convert.Convert(value, t.cty)
	if err == nil {
		return value, diags
	}
	at := attr.Expr.Range()
	return cty.UnknownVal(t.cty.WithoutOptionalAttributesDeep()), append(diags, &hcl.Diagnostic{
		Severity:    hcl.DiagError,
		Summary:     "Incorrect attribute value type",
		Detail:      fmt.Sprintf("Inappropriate value for attribute %q: %s.", name, err),
		Subject:     &at,
		Context:     hcl.RangeBetween(attr.NameRange, at).Ptr(),
		Expression:  attr.Expr,
		EvalContext: context,
	})
}

// decodeOne reads a block that may occur once.
func (s *schema) decodeOne(name string, blocks hcl.Blocks, context *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if len(blocks) == 0 {
		return cty.NullVal(s.valueType()), nil
	}
	value, diags := s.decode(blocks[0].Body, context)
	if len(blocks) > 1 {
		duplicate := diagnostic.Error(blocks[1].DefRange, fmt.Sprintf("Duplicate %s block", name),
			"Only one block of type %q is allowed. Previous definition was at %s.", name, blocks[0].DefRange)
		diags = append(hcl.Diagnostics{duplicate}, diags...)
	}
	return value, diags
}

// decodeAll reads blocks that may repeat. None has an argument of type "any", so all have the same type.
func (s *schema) decodeAll(_ string, blocks hcl.Blocks, context *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	values := make([]cty.Value, len(blocks))
	for i, block := range blocks {
		value, more := s.decode(block.Body, context)
		values[i], diags = value, append(diags, more...)
	}
	switch {
	case len(blocks) == 0 && s.Set:
		return cty.SetValEmpty(s.valueType()), diags
	case len(blocks) == 0:
		return cty.ListValEmpty(s.valueType()), diags
	case s.Set:
		return cty.SetVal(values), diags
	default:
		return cty.ListVal(values), diags
	}
}
