package static

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
)

// Validation is a condition that the value of a variable has to fulfil.
type Validation struct {
	Condition *hcl.Attribute
	Message   *hcl.Attribute // what is said if it doesn't; nil: nothing
}

// validate checks the value of a constant variable. What isn't known yet is left
// to a plan.
func (s *Scope) validate(v *Variable) (problems hcl.Diagnostics) {
	if s.static {
		return nil // OpenTofu leaves all conditions to a plan
	}
	for _, validation := range v.Validations {
		if problem := s.check(v, validation); problem != nil {
			problems = append(problems, problem)
		}
	}
	return problems
}

func (s *Scope) check(v *Variable, validation Validation) *hcl.Diagnostic {
	found := s.eval(validation.Condition.Expr)
	if len(found.problems) > 0 {
		return found.problems[0]
	}
	holds, err := convert.Convert(found.val, cty.Bool)
	at := validation.Condition.Expr.Range()
	switch holds, _ = holds.Unmark(); {
	case err != nil:
		return diagnostic.Error(at, "Invalid variable validation result", "The condition has to be true or false: %v.", err)
	case !holds.IsKnown():
		return nil
	case holds.IsNull():
		return diagnostic.Error(at, "Invalid variable validation result", "The condition has to be true or false, and is null.")
	case holds.True():
		return nil
	}
	return diagnostic.Error(v.Header, "Invalid value for variable", "%s", s.message(v, validation))
}

// message is what the block says about values that aren't valid.
func (s *Scope) message(v *Variable, validation Validation) string {
	general := "The value of var." + v.Name + " doesn't fulfil the condition at " + validation.Condition.Expr.Range().String() + "."
	if validation.Message == nil {
		return general
	}
	found := s.eval(validation.Message.Expr)
	if len(found.problems) > 0 || found.val.HasMarkDeep(Sensitive) || found.val.HasMarkDeep(ephemeral) {
		return general
	}
	val, _ := found.val.UnmarkDeep()
	text, ok := Text(val)
	if !ok {
		return general
	}
	return strings.TrimSpace(text) + " " + general
}
