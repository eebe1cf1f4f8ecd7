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

// override returns what stands in the block with the values of -backend-config over it, the later ones over the
// earlier. An argument replaces that of the same name, and blocks replace all of their type. Problems with
// a place in a file are unfit, all others diags.
func override(body hcl.Body, schema *schema, given []string) (content *hcl.BodyContent, diags, unfit hcl.Diagnostics) {
	content, unfit = body.Content(schema.body())
	if len(given) == 1 && given[0] == "" {
		return content, nil, unfit
	}
	for _, item := range given {
		name, value, isPair := strings.Cut(item, "=")
		if !isPair {
			file, more := load.LoadBody(item)
			diags = append(diags, unreadable(item, more)...)
			if file != nil {
				over, more := file.Body.Content(schema.body())
				content, unfit = overlay(content, over), append(unfit, more...)
			}
			continue
		}
		pair, more := parsePair(name, value, schema)
		diags = append(diags, more...)
		if pair != nil {
			content = overlay(content, &hcl.BodyContent{Attributes: hcl.Attributes{name: pair}})
		}
	}
	return content, diags, unfit
}

func overlay(base, over *hcl.BodyContent) *hcl.BodyContent {
	isReplaced := func(b *hcl.Block) bool {
		return slices.ContainsFunc(over.Blocks, func(o *hcl.Block) bool { return o.Type == b.Type })
	}
	all := hcl.Attributes{}
	maps.Copy(all, base.Attributes)
	maps.Copy(all, over.Attributes)
	return &hcl.BodyContent{Attributes: all, Blocks: append(slices.DeleteFunc(slices.Clone(base.Blocks), isReplaced), over.Blocks...)}
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

// optionProblem is a problem with what -backend-config gives.
func optionProblem(summary, format string, args ...any) *hcl.Diagnostic {
	return diagnostic.Coded("backend_configuration", diagnostic.Placeless(summary, format, args...))
}

// parsePair reads the value of an argument. The value may be a secret, so no
// message has it, and neither has the range.
func parsePair(name, value string, schema *schema) (*hcl.Attribute, hcl.Diagnostics) {
	attr, known := schema.Attributes[name]
	if !known {
		return nil, hcl.Diagnostics{optionProblem("Invalid backend configuration argument",
			"The backend configuration argument %q given on the command line is not expected for the selected backend type.%s", name, schema.alike(name))}
	}
	// JSON has no other text, so the record would never match the configuration.
	if !utf8.ValidString(value) {
		return nil, hcl.Diagnostics{optionProblem("Invalid backend configuration value",
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
			return nil, hcl.Diagnostics{optionProblem("Invalid backend configuration value",
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
		kept = append(kept, optionProblem(diag.Summary,
			"The value that -backend-config gives for %q has to be written as in the block, with quotes around strings.", name))
	}
	return kept
}

// unreadable keeps the headlines of problems with a file that can't be made
// out, where anything may be a secret.
func unreadable(name string, diags hcl.Diagnostics) (kept hcl.Diagnostics) {
	for _, diag := range diags {
		if diag.Subject != nil {
			diag = optionProblem(diag.Summary,
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
			diag = optionProblem(diag.Summary, "In %s, line %d: %s", at.Filename, at.Start.Line, diag.Detail)
		}
		kept = append(kept, diag)
	}
	return kept
}
