package command

import (
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/getproviders"
)

// engineOf is [Meta.engine] for commands that tell problems in their own way.
func (m *Meta) engineOf() (getproviders.Engine, view.Problems) {
	engine, err := m.engine()
	if err != nil {
		return engine, view.Problems{view.NewError("Invalid engine version", err.Error())}
	}
	return engine, nil
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
