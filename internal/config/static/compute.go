package static

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static/functions"
	"github.com/tfdeps/tfdeps/internal/nesting"
	"github.com/tfdeps/tfdeps/internal/spelling"
)

// eval computes an expression in the scope. Other references are unknown.
func (s *Scope) eval(expr hcl.Expression) result {
	if json.IsJSONExpression(expr) {
		native, problem := fromJSON(expr)
		if problem != nil {
			return because(problem)
		}
		return s.eval(native)
	}
	native, ok := expr.(hclsyntax.Expression)
	if !ok || !printableNumbers(native) {
		return tooMuchFor(expr.Range(), "Expression too complex", "Numbers with thousands of digits aren't computed before modules are installed.")
	}
	if text, ok := native.(*hclsyntax.TemplateExpr); ok && text.IsStringLiteral() { // fast path for most strings, without a table of functions
		return compute(native, &hcl.EvalContext{})
	}
	ctx, problems := s.Context(expr.Variables(), expr.Range())
	if len(problems) > 0 {
		return result{val: cty.DynamicVal, problems: problems}
	}
	calls := slices.DeleteFunc(Nodes[*hclsyntax.FunctionCallExpr](native), func(call *hclsyntax.FunctionCallExpr) bool {
		return !strings.HasPrefix(call.Name, "provider::") // provider functions aren't available yet
	})
	if len(calls) > 0 && s.product.Understands("only_static") {
		return failed(calls[0].NameRange, "Provider function in static context",
			"Unable to use %s in static context, which is required by %s", calls[0].Name, s.required())
	} else if len(calls) > 0 {
		ctx.Functions = maps.Clone(ctx.Functions)
		for _, call := range calls {
			ctx.Functions[call.Name] = ofProvider
		}
	}
	s.limitLoops(native)
	found := compute(native, ctx)
	if problem := s.isSpent(expr.Range()); problem != nil {
		return because(problem)
	}
	return found
}

// Context returns the values of references at a position. If there are problems, the first is the
// cause of the others.
func (s *Scope) Context(references []hcl.Traversal, at hcl.Range) (*hcl.EvalContext, hcl.Diagnostics) {
	roots := map[string]map[string]cty.Value{}
	size := 0
	for _, t := range references {
		if s.product.Understands("type_names") && IsTypeName(t) {
			continue // a type name has no value
		}
		ref, found := s.resolve(t)
		if len(found.problems) > 0 {
			return nil, found.problems
		}
		if roots[ref.root] == nil {
			roots[ref.root] = map[string]cty.Value{}
		}
		if ref.name != "" {
			roots[ref.root][ref.name] = found.val
		}
		size += functions.Size(found.val, maxValue)
	}
	if size > maxValue {
		return nil, tooLarge(at).problems
	}
	if s.spend(size) != nil {
		return nil, hcl.Diagnostics{s.isSpent(at)}
	}
	s.makeFunctions()
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: s.functions}
	for root, names := range roots {
		ctx.Variables[root] = cty.ObjectVal(names)
		if root != "var" && root != "local" && root != "path" && len(names) == 0 {
			ctx.Variables[root] = cty.DynamicVal
		}
	}
	return ctx, nil
}

// compute evaluates an expression whose references have values.
func compute(expr hcl.Expression, ctx *hcl.EvalContext) result {
	secret, _ := Secrets(cty.ObjectVal(ctx.Variables))
	val, diags := expr.Value(ctx)
	if !diags.HasErrors() && functions.Size(val, maxValue) > maxValue {
		return tooLarge(expr.Range())
	}
	if !diags.HasErrors() {
		return result{val: val}
	}
	first := *diags.Errs()[0].(*hcl.Diagnostic)
	// Values aren't shown. HCL suggests an arbitrary one of equally similar function names.
	first.Expression, first.EvalContext = nil, nil
	if unknown, ok := first.Extra.(hclsyntax.FunctionCallUnknownDiagExtra); ok {
		name := unknown.CalledFunctionNamespace() + unknown.CalledFunctionName()
		first.Detail = fmt.Sprintf("There is no function named %q.", name)
		if meant := spelling.Closest(name, slices.Sorted(maps.Keys(ctx.Functions))); meant != "" {
			first.Detail += fmt.Sprintf(" Did you mean %q?", meant)
		}
	}
	if secret {
		first.Detail = "This can't be computed. The reason isn't shown, because it may contain sensitive values."
	}
	return because(&first)
}

func tooLarge(at hcl.Range) result {
	return tooMuchFor(at, "Value too large", "A value of more than %d bytes isn't computed before modules are installed.", maxValue)
}

// fromJSON returns an expression of the JSON syntax, whose strings are templates, as one of the native syntax.
func fromJSON(expr hcl.Expression) (hclsyntax.Expression, *hcl.Diagnostic) {
	if src, ok := Literal(expr); ok {
		return parseTemplate(src, expr.Range())
	}
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		object := &hclsyntax.ObjectConsExpr{SrcRange: expr.Range()}
		for _, pair := range pairs {
			key, wrongKey := fromJSON(pair.Key)
			value, wrongValue := fromJSON(pair.Value)
			if wrong := cmp.Or(wrongKey, wrongValue); wrong != nil {
				return nil, wrong
			}
			object.Items = append(object.Items, hclsyntax.ObjectConsItem{KeyExpr: key, ValueExpr: value})
		}
		return object, nil
	}
	if list, diags := hcl.ExprList(expr); !diags.HasErrors() {
		tuple := &hclsyntax.TupleConsExpr{SrcRange: expr.Range()}
		for _, item := range list {
			element, wrong := fromJSON(item)
			if wrong != nil {
				return nil, wrong
			}
			tuple.Exprs = append(tuple.Exprs, element)
		}
		return tuple, nil
	}
	val, _ := expr.Value(nil)
	return &hclsyntax.LiteralValueExpr{Val: val, SrcRange: expr.Range()}, nil
}

// parseTemplate parses a string of the JSON syntax as a template.
func parseTemplate(src string, at hcl.Range) (hclsyntax.Expression, *hcl.Diagnostic) {
	if nesting.Marks([]byte(src)) > MaxNesting {
		return nil, diagnostic.Error(at, "Expression too complex", "This template has more than %d brackets and operators.", MaxNesting)
	}
	start := at.Start
	start.Column, start.Byte = start.Column+1, start.Byte+1 // after the quote
	template, diags := hclsyntax.ParseTemplate([]byte(src), at.Filename, start)
	if diags.HasErrors() {
		return nil, diags.Errs()[0].(*hcl.Diagnostic)
	}
	return template, nil
}

// IsTypeName reports whether a reference is a type name, as in the second argument of Terraform's function convert.
// Terraform never treats these names as references.
func IsTypeName(t hcl.Traversal) bool {
	return len(t) == 1 && slices.Contains([]string{"any", "bool", "number", "string"}, t.RootName())
}

// References returns the references of an expression, in either syntax.
func References(expr hcl.Expression) []hcl.Traversal {
	if !json.IsJSONExpression(expr) {
		return expr.Variables()
	}
	if src, ok := Literal(expr); ok {
		if template, problem := parseTemplate(src, expr.Range()); problem == nil {
			return template.Variables()
		}
	}
	return nil
}

// evalFor is eval for the object that messages call subject. Problems with the
// expression's dependencies are also shown at the position at.
func (s *Scope) evalFor(subject string, at hcl.Range, expr hcl.Expression) result {
	s.needing = append(s.needing, need{subject, at})
	found := s.eval(expr)
	s.needing = s.needing[:len(s.needing)-1]
	return found
}

// subject returns the name of an object of this module in OpenTofu's messages.
func (s *Scope) subject(name string) string {
	if s.Module == "" {
		return name
	}
	return s.Module + ":" + name
}

// explained adds a problem for an object that can't be computed because of a reference, in products
// that report each step of the chain.
func (s *Scope) explained(ref reference, found result) result {
	if !s.product.Understands("told_steps") || len(found.problems) == 0 || len(s.needing) == 0 || found.own || ref.root != "var" && ref.root != "local" {
		return found
	}
	top := s.needing[len(s.needing)-1]
	found.problems = append(slices.Clip(found.problems), diagnostic.Error(top.at, "Unable to compute static value",
		"%s depends on %s which is not available", top.subject, s.subject(ref.root+"."+ref.name)))
	return found
}

// required returns the object that is being computed, for messages.
func (s *Scope) required() string {
	if len(s.needing) == 0 {
		return "the configuration"
	}
	return s.needing[len(s.needing)-1].subject
}

// dynamic returns the problem of a reference that only plan can resolve, in products that report
// it.
func (s *Scope) dynamic(t hcl.Traversal) result {
	const format = "Unable to use %s in static context, which is required by %s"
	steps, summary := 2, "Dynamic value in static context"
	switch root := t.RootName(); {
	case root == "data" || root == "ephemeral" || root == "resource":
		steps = 3
	case root == "module" && StepName(SkipKey(t[min(2, len(t)):]), 0) != "":
		steps, summary = 3, "Module output not supported in static context"
	}
	var words []string
	for i := range t {
		if name := StepName(t, i); name != "" && len(words) < steps {
			words = append(words, name)
		}
	}
	return failed(t.SourceRange(), summary, format, strings.Join(words, "."), s.required())
}

// setting returns a value of the run, such as "terraform.workspace".
func (s *Scope) setting(ref reference, at hcl.Range) result {
	switch {
	case ref.name == "workspace" && s.Workspace != "":
		return result{val: cty.StringVal(s.Workspace)}
	case ref.name == "workspace":
		return unknown
	case ref.name == "applying":
		return failed(at, "Invalid attribute in static context", "Whether it is applied is known only when the configuration is planned and applied.")
	default:
		return failed(at, "Invalid \"terraform\" attribute", "There is terraform.workspace, and no terraform.%s.", ref.name)
	}
}

// Static returns the value of an expression that must be known before anything is installed.
// subject names it in messages, such as "provider.aws.by_region.for_each". If there are problems,
// the first is the cause of the others. The value can be unknown without a problem.
func (s *Scope) Static(subject string, expr hcl.Expression) (cty.Value, hcl.Diagnostics) {
	found := s.evalFor(s.subject(subject), expr.Range(), expr)
	return found.val, found.problems
}

// BodyContext returns the values of all references in a body that must be known, such as a
// backend's. subject and at are the body's name and position for messages. The first problem is the
// cause of the others.
func (s *Scope) BodyContext(subject string, at hcl.Range, body hcl.Body) (*hcl.EvalContext, hcl.Diagnostics) {
	refs, problem := bodyReferences(body)
	if problem != nil {
		return nil, hcl.Diagnostics{problem}
	}
	return s.ContextFor(subject, at, refs)
}

// ContextFor is Context for the references of an object, with its name and position for messages.
func (s *Scope) ContextFor(subject string, at hcl.Range, refs []hcl.Traversal) (*hcl.EvalContext, hcl.Diagnostics) {
	s.needing = append(s.needing, need{s.subject(subject), at})
	ctx, problems := s.Context(refs, at)
	s.needing = s.needing[:len(s.needing)-1]
	return ctx, problems
}

// Secrets reports which kinds of secrets a value has.
func Secrets(val cty.Value) (isSensitive, isEphemeral bool) {
	return val.HasMarkDeep(functions.Sensitive), val.HasMarkDeep(functions.Ephemeral)
}

func isSecret(val cty.Value) bool {
	isSensitive, isEphemeral := Secrets(val)
	return isSensitive || isEphemeral
}
