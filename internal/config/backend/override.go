package backend

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/config/static"
)

// override lays the values of -backend-config over the block, the later ones
// over the earlier.
func override(body hcl.Body, schema *schema, given []string) (hcl.Body, hcl.Diagnostics) {
	if len(given) == 1 && given[0] == "" {
		return body, nil
	}
	var diags hcl.Diagnostics
	for _, item := range given {
		name, value, isPair := strings.Cut(item, "=")
		if !isPair {
			file, more := load.LoadBody(item)
			diags = append(diags, unreadable(item, more)...)
			if file != nil {
				body = merged{base: body, over: file.Body}
			}
			continue
		}
		pair, more := parsePair(name, value, schema)
		diags = append(diags, more...)
		if pair != nil {
			body = merged{base: body, over: argument{pair}}
		}
	}
	return body, diags
}

// few is how many arguments can be listed in a sentence.
const few = 12

// alike lists the arguments that may be meant by a name: those that begin like it, or all if they are few.
func (s *schema) alike(name string) string {
	names := slices.Sorted(maps.Keys(s.Attributes))
	begin := func(of string) string { return of[:min(len(of), 3)] }
	same := slices.DeleteFunc(slices.Clone(names), func(other string) bool { return begin(other) != begin(name) })
	switch {
	case len(same) > 0:
		return " Arguments with similar names: " + strings.Join(same, ", ") + "."
	case len(names) > 0 && len(names) <= few:
		return " Its arguments are: " + strings.Join(names, ", ") + "."
	}
	return ""
}

// parsePair reads the value of an argument. The value may be a secret, so no
// message has it, and neither has the range.
func parsePair(name, value string, schema *schema) (*hcl.Attribute, hcl.Diagnostics) {
	attr, known := schema.Attributes[name]
	if !known {
		return nil, hcl.Diagnostics{diagnostic.Placeless("Invalid backend configuration argument",
			"The backend configuration argument %q given on the command line is not expected for the selected backend type.%s", name, schema.alike(name))}
	}
	// JSON has no other text, so the record would never match the configuration.
	if !utf8.ValidString(value) {
		return nil, hcl.Diagnostics{diagnostic.Placeless("Invalid backend configuration value",
			"The value that -backend-config gives for %q is not valid UTF-8.", name)}
	}
	origin := diagnostic.Beginning(fmt.Sprintf("-backend-config=\"%s=...\"", name))
	expr := hcl.StaticExpr(cty.StringVal(value), origin)
	if attr.cty.IsPrimitiveType() {
		converted, err := convert.Convert(cty.StringVal(value), attr.cty)
		if err == nil {
			if _, printable := static.Text(converted); !printable { // 1e999999999 would be a gigabyte
				err = errors.New("a number of this size can't be written down")
			}
		}
		if err != nil {
			return nil, hcl.Diagnostics{diagnostic.Placeless("Invalid backend configuration value",
				"The value that -backend-config gives for %q can't be used: %v.", name, err)}
		}
	} else {
		parsed, diags := static.ParseArgument(value, origin.Filename)
		if parsed == nil {
			return nil, discreet(name, diags)
		}
		evaluated, diags := parsed.Value(nil)
		if diags.HasErrors() {
			return nil, discreet(name, diags)
		}
		expr = hcl.StaticExpr(evaluated, origin)
	}
	return &hcl.Attribute{Name: name, Expr: expr, Range: origin, NameRange: origin}, nil
}

// discreet keeps the headlines of problems with a value. Details and places
// may quote it.
func discreet(name string, diags hcl.Diagnostics) (kept hcl.Diagnostics) {
	for _, diag := range diags {
		kept = append(kept, diagnostic.Placeless(diag.Summary,
			"The value that -backend-config gives for %q has to be written as in the block, with quotes around strings.", name))
	}
	return kept
}

// unreadable keeps the headlines of problems with a file that can't be made
// out, where anything may be a secret.
func unreadable(name string, diags hcl.Diagnostics) (kept hcl.Diagnostics) {
	for _, diag := range diags {
		if diag.Subject != nil {
			diag = diagnostic.Placeless(diag.Summary,
				"Line %d of %s, which -backend-config names, can't be used. The file has to be written as the block is.", diag.Subject.Start.Line, name)
		}
		kept = append(kept, diag)
	}
	return kept
}

// unquoted keeps lines of files that -backend-config names out of messages:
// a message that names the place can show what is there.
func unquoted(diags hcl.Diagnostics, given []string) hcl.Diagnostics {
	var kept hcl.Diagnostics
	for _, diag := range diags {
		isGiven := func(item string) bool {
			return !strings.Contains(item, "=") && diag.Subject != nil && diag.Subject.Filename == filepath.Clean(item)
		}
		if slices.ContainsFunc(given, isGiven) {
			at := diag.Subject
			diag = diagnostic.Placeless(diag.Summary, "In %s, line %d: %s", at.Filename, at.Start.Line, diag.Detail)
		}
		kept = append(kept, diag)
	}
	return kept
}

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
	maps.Copy(all, base)
	maps.Copy(all, over)
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
