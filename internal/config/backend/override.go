package backend

import (
	"context"
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

// override returns the content of the block combined with the values of -backend-config, in order. An argument
// replaces that of the same name, and blocks replace all blocks of their type. unfit has the problems with
// positions in a file, diags the others.
func override(ctx context.Context, body hcl.Body, schema *schema, given []string) (content *hcl.BodyContent, diags, unfit hcl.Diagnostics) {
	content, unfit = body.Content(schema.body())
	if len(given) == 1 && given[0] == "" {
		return content, nil, unfit
	}
	for _, item := range given {
		name, value, isPair := strings.Cut(item, "=")
		if !isPair {
			file, more := load.LoadBody(ctx, item)
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

// few is the largest number of arguments that a message lists.
const few = 12

// alike lists the arguments with a similar beginning, or all if they are few.
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

// optionProblem returns a problem with -backend-config.
func optionProblem(summary, format string, args ...any) *hcl.Diagnostic {
	return diagnostic.Coded("backend_configuration", diagnostic.Placeless(summary, format, args...))
}

// parsePair reads the value of an argument. The value may be secret, so neither messages nor the
// range have it.
func parsePair(name, value string, schema *schema) (*hcl.Attribute, hcl.Diagnostics) {
	attr, known := schema.Attributes[name]
	if !known {
		return nil, hcl.Diagnostics{optionProblem("Invalid backend configuration argument",
			"The backend configuration argument %q given on the command line is not expected for the selected backend type.%s", name, schema.alike(name))}
	}
	// JSON can't store other text, so the record would never match the configuration.
	if !utf8.ValidString(value) {
		return nil, hcl.Diagnostics{optionProblem("Invalid backend configuration value",
			"The value that -backend-config gives for %q is not valid UTF-8.", name)}
	}
	origin := diagnostic.Beginning(fmt.Sprintf("-backend-config=\"%s=...\"", name))
	expr := hcl.StaticExpr(cty.StringVal(value), origin)
	if attr.cty.IsPrimitiveType() {
		converted, err := convert.Convert(cty.StringVal(value), attr.cty)
		if err == nil {
			if _, printable := static.Text(converted); !printable { // 1e999999999 has a gigabyte of digits
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

// discreet keeps only the summaries of problems with a value, because details and positions may
// quote it.
func discreet(name string, diags hcl.Diagnostics) (kept hcl.Diagnostics) {
	for _, diag := range diags {
		kept = append(kept, optionProblem(diag.Summary,
			"The value that -backend-config gives for %q has to be written as in the block, with quotes around strings.", name))
	}
	return kept
}

// unreadable keeps only the summaries of problems with a file that can't be parsed, because its
// lines may be secret.
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

// unquoted removes the positions of problems in files of -backend-config, because a position lets
// the printer show the line.
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
