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

// Values of bodies are those that package hcldec of the language makes, which Terraform decodes them with: the
// hash of a block is made of them. That package itself brings encoding/gob, and registers its types before main.

// decode reads a body. No argument is required yet: some may come by other ways. What can't be read is
// unknown in the value, which is complete whatever the diagnostics say.
func (s *schema) decode(body hcl.Body, context *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	content, diags := body.Content(s.body())
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

// body is what may stand in a body.
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

// valueType is the type of the value that a body is decoded to.
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

// decode reads an argument, nil for one that isn't there.
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

// decodeOne reads a block that may be there once.
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

// decodeAll reads blocks that may be there any number of times. Arguments of type "any" may have another type in each
// of them: they need one that all of them can be converted to.
func (s *schema) decodeAll(name string, blocks hcl.Blocks, context *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	values, types := make([]cty.Value, len(blocks)), make([]cty.Type, len(blocks))
	for i, block := range blocks {
		value, more := s.decode(block.Body, context)
		values[i], types[i], diags = value, value.Type(), append(diags, more...)
	}
	inconsistent := func(block *hcl.Block, detail string) (cty.Value, hcl.Diagnostics) {
		return cty.DynamicVal, append(diags, diagnostic.Error(block.DefRange, fmt.Sprintf("Unconsistent argument types in %s blocks", name), "%s", detail))
	}
	if len(blocks) > 0 {
		common, conversions := convert.UnifyUnsafe(types)
		if common == cty.NilType {
			return inconsistent(blocks[0], "Corresponding attributes in all blocks of this type must be the same.")
		}
		for i, conversion := range conversions {
			if conversion == nil {
				continue
			}
			converted, err := conversion(values[i])
			if err != nil {
				return inconsistent(blocks[i], fmt.Sprintf("Block with index %d has inconsistent argument types: %s.", i, err))
			}
			values[i] = converted
		}
		// Of objects whose arguments are null, or of any type, go-cty finds a common type without a conversion to it.
		for i, value := range values {
			if !value.Type().Equals(values[0].Type()) {
				return inconsistent(blocks[i], fmt.Sprintf("Block with index %d has other types of arguments than the first one.", i))
			}
		}
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
