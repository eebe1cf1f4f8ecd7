package backend

import (
	_ "embed"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/par"
)

// rule is what an argument of a type has to be, as far as that shows without asking the
// backend: a line of rules.txt.
type rule struct {
	typ, argument, variables, check, summary string
}

//go:embed rules.txt
var rulesText string

// rules are the lines of rules.txt.
var rules = par.OnceValue(func() (all []rule) {
	for line := range strings.Lines(rulesText) {
		if f := strings.Fields(line); len(f) > 4 && f[0] != "#" {
			all = append(all, rule{f[0], f[1], strings.ReplaceAll(strings.Trim(f[2], "-"), ",", " "), f[3], strings.Join(f[4:], " ")})
		}
	}
	return all
})

// checkRules finds what can't be right in the values of a block. Messages don't have the
// values: they may be secret.
func checkRules(block Block, value cty.Value, opts Options) (diags hcl.Diagnostics) {
	getenv := opts.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	report := func(summary, format string, args ...any) {
		diags = append(diags, diagnostic.Error(block.Range, summary, format, args...))
	}
	for _, r := range rules() {
		typ, unless, _ := strings.Cut(r.typ, ":")
		if typ != block.Type || unless == "any_role" && dialect.Of(opts.Product).Understands("any_role") {
			continue
		}
		first, second, _ := strings.Cut(r.argument, "+")
		variable, other, _ := strings.Cut(r.variables, "+")
		texts := given(value, first, variable, getenv)
		check, instead, _ := strings.Cut(r.check, ":")
		switch check {
		case "instead":
			if len(texts) > 0 {
				diags = append(diags, diagnostic.Warning(block.Range, r.summary, "The argument %q is deprecated. Use %q instead.", first, instead))
			}
		case "required":
			if strings.Join(texts, "") == "" {
				detail := "The backend " + block.Type + " needs a value for \"" + r.argument + "\". Give it in the block, or with -backend-config"
				for variable := range strings.FieldsSeq(r.variables) {
					detail += ", or set the variable " + variable
				}
				report(r.summary, "%s.", detail)
			}
		case "apart":
			if len(texts) > 0 && len(given(value, second, other, getenv)) > 0 {
				report(r.summary, "Only one of %q and %q can be set.", first, second)
			}
		case "needs":
			if strings.Join(texts, "") != "" && strings.Join(given(value, second, other, getenv), "") == "" {
				report(r.summary, "The argument %q needs %q beside it.", first, second)
			}
		default:
			for _, text := range texts {
				if reason := wrong(r.check, text); reason != "" && r.summary == "-" {
					report(reason, "The value of %q can't be parsed.", first)
					break
				} else if reason != "" {
					report(r.summary, "The value of %q %s.", first, reason)
					break
				}
			}
		}
	}
	if block.Type == "remote" || block.Type == Cloud {
		if reason := wrongWorkspaces(block.Type, value.GetAttr("workspaces")); reason != "" {
			report("Invalid workspaces configuration", "%s", reason)
		}
	}
	return diags
}

// given returns the value of an argument, those of a set, or where it isn't set that of the
// first variable that is; none: nothing is set. What is no string counts as "". An argument that the product's
// version doesn't have isn't set.
func given(value cty.Value, argument, variables string, getenv func(string) string) []string {
	for name := range strings.SplitSeq(argument, ".") {
		if value.IsNull() || !value.Type().HasAttribute(name) {
			value = cty.NullVal(cty.String)
			break
		}
		value = value.GetAttr(name)
	}
	switch {
	case !value.IsNull() && value.Type() == cty.Set(cty.String):
		var texts []string
		for _, element := range value.Elements() {
			texts = append(texts, element.AsString())
		}
		return texts
	case !value.IsNull() && value.Type() == cty.String:
		return []string{value.AsString()}
	case !value.IsNull():
		return []string{""}
	}
	for variable := range strings.FieldsSeq(variables) {
		if text := getenv(variable); text != "" {
			return []string{text}
		}
	}
	return nil
}

// wrongWorkspaces says what is wrong with the block of the types remote and cloud. That of
// a cloud block may be left to the environment.
func wrongWorkspaces(typ string, block cty.Value) string {
	name, prefix := textOf(block, "name"), textOf(block, "prefix")
	switch {
	case typ == Cloud && !block.IsNull() && !block.GetAttr("name").IsNull() && !block.GetAttr("tags").IsNull():
		return "A block \"workspaces\" has only one of \"name\" and \"tags\"."
	case typ == Cloud:
	case name == "" && prefix == "":
		return "A block \"workspaces\" has to say which workspaces there are, by \"name\" or \"prefix\"."
	case name != "" && prefix != "":
		return "A block \"workspaces\" has only one of \"name\" and \"prefix\"."
	}
	return ""
}
