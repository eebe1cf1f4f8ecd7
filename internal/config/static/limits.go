package static

import (
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static/functions"
	"github.com/tfdeps/tfdeps/internal/nesting"
)

// Without limits, local values that repeat one another would double in size with each of them, and
// nested loops would take forever. Sizes are in bytes, approximately.
const (
	maxValue = 1 << 20 // of one value
	maxSpent = 1 << 25 // of all values in a module that expressions refer to, pass to functions or compute in loops
	loopStep = 64      // the least that each value in a loop counts
)

var errSpent = errors.New("computing this takes more than is allowed before modules are installed")

// spend counts the cost of a computation. It returns an error if the module's total is too high.
func (s *Scope) spend(size int) error {
	if s.spent += 1 + size; s.spent > maxSpent {
		return errSpent
	}
	return nil
}

// limitReached is the Extra of problems with values that aren't computed before modules are installed because they are too
// large or too complex. Such a value is right, unless a source needs it.
type limitReached struct{}

// tooMuchFor returns the result of a value for which a limit of this package is reached.
func tooMuchFor(at hcl.Range, summary, format string, args ...any) result {
	found := failed(at, summary, format, args...)
	found.problems[0].Extra = limitReached{}
	return found
}

// isLimited reports whether problems may be ours alone: a limit of this package is reached, or a function refuses its arguments,
// which may be because it returns less here, or reads fewer files.
func isLimited(problems hcl.Diagnostics) bool {
	return slices.ContainsFunc(problems, func(p *hcl.Diagnostic) bool {
		_, limited := p.Extra.(limitReached)
		_, refused := p.Extra.(hclsyntax.FunctionCallDiagExtra)
		return limited || refused || isSpent(p)
	})
}

// isSpent returns the problem of a module whose computations cost too much, the same for every
// expression; nil if they don't.
func (s *Scope) isSpent(at hcl.Range) *hcl.Diagnostic {
	if s.spent > maxSpent && s.exceeded == nil {
		s.exceeded = diagnostic.Error(at, "Expression too complex", "%s.", strings.ToUpper(errSpent.Error()[:1])+errSpent.Error()[1:])
		s.exceeded.Extra = limitReached{}
	}
	return s.exceeded
}

// limitLoops makes the parts of each loop in an expression or a body count their values, by
// wrapping them once. A loop continues after an error in its body, but not after one in its
// collection.
func (s *Scope) limitLoops(node hclsyntax.Node) {
	for _, loop := range Nodes[*hclsyntax.ForExpr](node) {
		for _, part := range []*hclsyntax.Expression{&loop.CollExpr, &loop.KeyExpr, &loop.ValExpr, &loop.CondExpr} {
			if found, ok := (*part).(*counted); *part != nil && !(ok && found.scope == s) {
				*part = &counted{&hclsyntax.ParenthesesExpr{Expression: *part, SrcRange: (*part).Range()}, s}
			}
		}
	}
}

// limited reports whether a loop counts what it computes.
func limited(loop *hclsyntax.ForExpr) bool {
	_, ok := loop.CollExpr.(*counted)
	return ok
}

// counted is a part of a loop that counts its values.
type counted struct {
	*hclsyntax.ParenthesesExpr
	scope *Scope
}

// Uncounted returns an expression without its wrapper of counted loop parts.
func Uncounted(expr hclsyntax.Expression) hclsyntax.Expression {
	for {
		part, ok := expr.(*counted)
		if !ok {
			return expr
		}
		expr = part.Expression
	}
}

// Value returns an error if the loops have computed too much.
func (c *counted) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if err := c.scope.spend(0); err != nil {
		return c.tooMuch(err)
	}
	val, diags := c.ParenthesesExpr.Value(ctx)
	if err := c.scope.spend(loopStep + functions.Size(val, maxValue)); err != nil {
		return c.tooMuch(err)
	}
	return val, diags
}

func (c *counted) tooMuch(err error) (cty.Value, hcl.Diagnostics) {
	problem := diagnostic.Error(c.Range(), "Expression too complex", "%v", err)
	problem.Extra = errSpent
	return cty.DynamicVal, hcl.Diagnostics{problem}
}

// makeFunctions makes the function table at its first use.
func (s *Scope) makeFunctions() {
	if s.functions != nil {
		return
	}
	table := functions.Table(functions.Environment{
		Files:    s.files,
		MaxBytes: maxValue,
		OpenTofu: s.product.Understands("own_functions"),
		Parse:    s.parseText,
	})
	s.functions = map[string]function.Function{}
	for name, f := range table {
		s.functions[name] = s.counting(f)
	}
}

// counting returns a function that counts its arguments and result.
func (s *Scope) counting(f function.Function) function.Function {
	return functions.Guarded(f, func(args []cty.Value) error {
		for _, arg := range args {
			if err := s.spend(functions.Size(arg, maxValue)); err != nil {
				return err
			}
		}
		return nil
	}, func(args []cty.Value) (cty.Value, error) {
		val, err := f.Call(args)
		if err != nil {
			return val, err
		}
		size := functions.Size(val, maxValue)
		if size > maxValue {
			return cty.DynamicVal, errors.New("the result would be too large")
		}
		return val, s.spend(size)
	})
}

// parseText parses a template for a function.
func (s *Scope) parseText(text, name string) (hclsyntax.Expression, error) {
	if nesting.Marks([]byte(text)) > MaxNesting {
		return nil, errSpent
	}
	template, diags := hclsyntax.ParseTemplate([]byte(text), name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	if !printableNumbers(template) {
		return nil, errSpent
	}
	s.limitLoops(template)
	return template, nil
}

// ofProvider is any function of a provider: its result is unknown before the provider is installed.
var ofProvider = function.New(&function.Spec{
	VarParam: &function.Parameter{
		Name: "arguments", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
	},
	Type: function.StaticReturnType(cty.DynamicPseudoType),
	Impl: func([]cty.Value, cty.Type) (cty.Value, error) { return cty.DynamicVal, nil },
})
