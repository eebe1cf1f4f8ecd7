package backend

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// rule is a condition on an argument of a backend type that can be checked without the backend: a
// line of rules.txt.
type rule struct {
	typ, argument, variables, check, summary string
	versions                                 dialect.Versions
}

//go:embed rules.txt
var rulesText string

// rules returns the rules of rules.txt.
var rules = sync.OnceValue(func() (all []rule) {
	for line := range strings.Lines(rulesText) {
		if f := strings.Fields(line); len(f) > 4 && f[0] != "#" {
			typ, versions, _ := strings.Cut(f[0], ":")
			all = append(all, rule{typ, f[1], strings.ReplaceAll(strings.Trim(f[2], "-"), ",", " "), f[3], strings.Join(f[4:], " "),
				dialect.ReadVersions(strings.FieldsFunc(versions, func(r rune) bool { return r == ',' }))})
		}
	}
	return all
})

// checkRules checks the values of a block. Messages don't show the values, which may be secret.
func checkRules(block load.Backend, value cty.Value, opts Options) (diags hcl.Diagnostics) {
	product, getenv := dialect.Of(opts.Product), opts.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	report := func(summary, format string, args ...any) {
		diags = append(diags, diagnostic.Error(block.Range, summary, format, args...))
	}
	for _, r := range rules() {
		if r.typ != block.Type || !product.In(r.versions) {
			continue
		}
		first, second, isPair := strings.Cut(r.argument, "+")
		variable, other, _ := strings.Cut(r.variables, "+")
		name, beside := named(first, variable), named(second, other)
		texts, others := given(value, first, variable, getenv), []string(nil)
		if isPair {
			others = given(value, second, other, getenv)
		}
		check, words, _ := strings.Cut(r.check, ":")
		switch check {
		case "instead":
			if len(texts) > 0 {
				diags = append(diags, diagnostic.Warning(block.Range, r.summary, "%q is deprecated. Use %q instead.", name, words))
			}
		case "complete":
			if len(texts) > 0 && noURL(texts[0]) == "" && noCompleteURL(texts[0]) != "" {
				diags = append(diags, diagnostic.Warning(block.Range, r.summary, "The value of %q %s.", name, noCompleteURL(texts[0])))
			}
		case "advised":
			if isMeant(texts, "") && len(others) == 0 {
				diags = append(diags, diagnostic.Warning(block.Range, r.summary, "%q is used in place of %q, which isn't set. Set that one, to \"\" if there is none.", name, beside))
			}
		case "required":
			if !isMeant(texts, "") {
				detail := "The backend " + block.Type + " needs a value for " + quoted(first) + ". Give it in the block, or with -backend-config"
				for variable := range strings.FieldsSeq(r.variables) {
					detail += ", or set the variable " + variable
				}
				report(r.summary, "%s.", detail)
			}
		case "apart":
			if len(texts) > 0 && len(others) > 0 {
				report(r.summary, "Only one of %q and %q can be set.", name, beside)
			}
		case "excludes":
			if isMeant(texts, "") && isMeant(others, "") {
				report(r.summary, "%q can't be checked with %q. Leave out one of them.", name, beside)
			}
		case "needs":
			if isMeant(texts, words) && !isMeant(others, "") {
				report(r.summary, "%q needs %q beside it.", name, beside)
			}
		default:
			if reason := wrongValue(r, texts, others); reason != "" && r.summary == "-" {
				report(reason, "The value of %q can't be parsed.", name)
			} else if reason != "" {
				report(strings.ReplaceAll(r.summary, "$", first), "The value of %q %s.", name, reason)
			}
		}
	}
	if block.Type == "remote" || block.Type == Cloud {
		if reason := wrongWorkspaces(block.Type, value.GetAttr("workspaces")); reason != "" {
			diags = append(diags, diagnostic.Coded("backend_configuration", diagnostic.Error(block.Range, "Invalid workspaces configuration", "%s", reason)))
		}
	}
	return diags
}

// wrongValue applies the check of a rule to each value, or to a pair.
func wrongValue(r rule, texts, others []string) (reason string) {
	pair := pairChecks()[r.check]
	for _, text := range texts {
		switch isSet := isMeant(others, ""); {
		case pair == nil && !isSet:
			reason = wrong(r.check, text)
		case pair != nil && isSet && text != "":
			reason = pair(text, others[0])
		}
		if reason != "" {
			return reason
		}
	}
	return ""
}

// named returns the argument, or the first variable of a rule without an argument.
func named(argument, variables string) string {
	if variable := strings.Fields(variables); argument == "-" && len(variable) > 0 {
		return variable[0]
	}
	return argument
}

// quoted lists alternative arguments.
func quoted(arguments string) string {
	return `"` + strings.ReplaceAll(arguments, "|", `" or "`) + `"`
}

// isMeant reports whether a value is neither "" nor false, and one of the words if words isn't "".
func isMeant(texts []string, words string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		return text != "" && text != "false" && (words == "" || wrong("anycase:"+words, text) == "")
	})
}

// given returns the values of an argument, or of the first variable that is set if the argument isn't. A value that has no string
// form is returned as "set". Arguments that the product's version doesn't have aren't set. For several arguments it returns the
// values of all, and of all variables.
func given(value cty.Value, arguments, variables string, getenv func(string) string) (texts []string) {
	for argument := range strings.SplitSeq(arguments, "|") {
		texts = append(texts, textsOf(value, argument)...)
	}
	for variable := range strings.FieldsSeq(variables) {
		if text := getenv(variable); text != "" && (len(texts) == 0 || strings.Contains(arguments, "|")) {
			texts = append(texts, text)
		}
	}
	return texts
}

func textsOf(value cty.Value, argument string) []string {
	for name := range strings.SplitSeq(argument, ".") {
		if value.IsNull() || !value.Type().HasAttribute(name) {
			return nil
		}
		value = value.GetAttr(name)
	}
	return flat(value)
}

func flat(value cty.Value) (texts []string) {
	if value.IsNull() {
		return nil
	}
	if value.Type().IsSetType() || value.Type().IsListType() {
		for _, element := range value.Elements() {
			texts = append(texts, flat(element)...)
		}
		return texts
	}
	if text, err := convert.Convert(value, cty.String); err == nil {
		return []string{text.AsString()}
	}
	return []string{"set"}
}

// wrongWorkspaces returns what is wrong with the workspaces block of the types remote and cloud.
// The environment may replace a cloud block's.
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
