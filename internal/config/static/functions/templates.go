package functions

import (
	"errors"
	"fmt"
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// addTemplates adds the functions that render templates. Templates can call all functions but
// these.
func (env Environment) addTemplates(table map[string]function.Function) {
	inside := maps.Clone(table)
	for _, name := range []string{"templatefile", "templatestring"} {
		inside[name] = unusable(fmt.Errorf("a template can't call %s", name))
	}
	for name, f := range maps.Clone(inside) {
		inside["core::"+name] = f
	}
	table["templatefile"] = returning(cty.DynamicPseudoType, func(args []cty.Value) (cty.Value, error) {
		content, err := env.Files.read(args[0].AsString(), env.MaxBytes)
		if err != nil {
			return cty.DynamicVal, err
		}
		return env.render(string(content), args[0].AsString(), args[1], inside)
	}, param("path", cty.String), anything("vars"))
	table["templatestring"] = returning(cty.String, func(args []cty.Value) (cty.Value, error) {
		text, err := referenced(args[0], env.OpenTofu)
		if err != nil || !text.IsKnown() {
			return cty.UnknownVal(cty.String), err
		}
		text, marks := text.Unmark()
		rendered, err := env.render(text.AsString(), "<templatestring argument>", args[1], inside)
		if err != nil {
			return cty.NilVal, err
		}
		rendered, err = convert.Convert(rendered, cty.String)
		return rendered.WithMarks(marks), err
	}, param("template", customdecode.ExpressionClosureType), anything("vars"))
}

// referenced returns the string that an expression refers to. Unless any is set, other expressions
// are errors: a literal template needs no function.
func referenced(closure cty.Value, any bool) (cty.Value, error) {
	of := customdecode.ExpressionClosureFromVal(closure)
	switch of.Expression.(type) {
	case *hclsyntax.ScopeTraversalExpr, *hclsyntax.RelativeTraversalExpr, *hclsyntax.IndexExpr:
	default:
		if any {
			break
		}
		return cty.NilVal, function.NewArgErrorf(0, "must be a reference to a string that is a template")
	}
	val, diags := of.Value()
	if diags.HasErrors() {
		return cty.NilVal, function.NewArgErrorf(0, "%s: %s", diags.Errs()[0].(*hcl.Diagnostic).Summary, diags.Errs()[0].(*hcl.Diagnostic).Detail)
	}
	val, err := convert.Convert(val, cty.String)
	if err == nil && val.IsNull() {
		err = errors.New("it is null")
	}
	if err != nil {
		return cty.NilVal, function.NewArgErrorf(0, "must be a string: %v", err)
	}
	return val, nil
}

// render renders a template, which may refer to vars only.
func (env Environment) render(text, name string, vars cty.Value, table map[string]function.Function) (cty.Value, error) {
	if typ := vars.Type(); !typ.IsObjectType() && !typ.IsMapType() {
		return cty.DynamicVal, function.NewArgErrorf(1, "must be a map")
	}
	expr, err := env.Parse(text, name)
	if err != nil {
		return cty.DynamicVal, err
	}
	given := vars.AsValueMap()
	for variable := range given {
		if !hclsyntax.ValidIdentifier(variable) {
			return cty.DynamicVal, function.NewArgErrorf(1, "%q can't be the name of a variable in a template", variable)
		}
	}
	for _, traversal := range expr.Variables() {
		if _, ok := given[traversal.RootName()]; !ok {
			return cty.DynamicVal, function.NewArgErrorf(1, "has no %q, to which %s refers at %s", traversal.RootName(), name, traversal[0].SourceRange())
		}
	}
	val, diags := expr.Value(&hcl.EvalContext{Variables: given, Functions: table})
	if diags.HasErrors() {
		first := diags.Errs()[0].(*hcl.Diagnostic)
		return cty.DynamicVal, fmt.Errorf("%s: %s", first.Summary, first.Detail)
	}
	return val, nil
}
