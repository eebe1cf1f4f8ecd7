package command

import (
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/getproviders"
)

// productOf is [Meta.product] for commands that tell problems in their own way.
func (m *Meta) productOf() (getproviders.Product, view.Problems) {
	product, err := m.product()
	if err != nil {
		return product, view.Problems{view.NewError("Invalid product version", err.Error())}
	}
	return product, nil
}

// carryOut does what a command is for, unless what is known before speaks
// against it, tells all problems at the end, and returns the exit code.
func carryOut(known view.Problems, all func() view.Problems, tell func(view.Problems)) int {
	problems := known
	if !problems.HasErrors() {
		problems = append(problems, all()...)
	}
	tell(problems)
	if problems.HasErrors() {
		return 1
	}
	return 0
}
