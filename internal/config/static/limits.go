package static

import (
	"errors"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static/functions"
	"github.com/tfdeps/tfdeps/internal/nesting"
)

// Without bounds, local values that repeat one another would double with each of
// them, and loops in loops would never end. Sizes are in bytes or so.
const (
	maxValue = 1 << 20 // of one value
	maxSpent = 1 << 25 // of all values in a module that expressions refer to, hand to functions or make in loops
	loopStep = 64      // what each value in a loop counts at least
)

var errSpent = errors.New("computing this takes more than is allowed before there are modules")

// spend counts what computing takes. It is an error if that is too much for one
// module.
func (s *Scope) spend(size int) error {
	if s.spent += 1 + size; s.spent > maxSpent {
		return errSpent
	}
	return nil
}

// isSpent returns the problem that there is with everything once too much was
// computed, one for the module; nil: there is none.
func (s *Scope) isSpent(at hcl.Range) *hcl.Diagnostic {
	if s.spent > maxSpent && s.exceeded == nil {
		s.exceeded = diagnostic.Error(at, "Expression too complex", "%s.", strings.ToUpper(errSpent.Error()[:1])+errSpent.Error()[1:])
	}
	return s.exceeded
}

// limitLoops has the parts of each loop in an expression or a body count their values. They are
// changed for that, once. A loop goes on after an error in its body, but not after
// one in what it goes through.
func (s *Scope) limitLoops(node hclsyntax.Node) {
	for _, loop := range Nodes[*hclsyntax.ForExpr](node) {
		for _, part := range []*hclsyntax.Expression{&loop.CollExpr, &loop.KeyExpr, &loop.ValExpr, &loop.CondExpr} {
			if found, ok := (*part).(*counted); *part != nil && !(ok && found.scope == s) {
				*part = &counted{&hclsyntax.ParenthesesExpr{Expression: *part, SrcRange: (*part).Range()}, s}
			}
		}
	}
}

// limited reports whether a loop counts what it makes.
func limited(loop *hclsyntax.ForExpr) bool {
	_, ok := loop.CollExpr.(*counted)
	return ok
}

// counted is a part of a loop that counts what it makes.
type counted struct {
	*hclsyntax.ParenthesesExpr
	scope *Scope
}

// Uncounted returns an expression as it was written: parts of loops count what they make.
func Uncounted(expr hclsyntax.Expression) hclsyntax.Expression {
	for {
		part, ok := expr.(*counted)
		if !ok {
			return expr
		}
		expr = part.Expression
	}
}

// Value is an error when the loops have made too much.
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

// makeFunctions makes the function table when it is first needed.
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

// counting counts the arguments and the result of a function.
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

// parseText parses a template that a function has.
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

// ofProvider is a function of a provider: what it returns isn't known before the provider is there.
var ofProvider = function.New(&function.Spec{
	VarParam: &function.Parameter{
		Name: "arguments", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
	},
	Type: function.StaticReturnType(cty.DynamicPseudoType),
	Impl: func([]cty.Value, cty.Type) (cty.Value, error) { return cty.DynamicVal, nil },
})
