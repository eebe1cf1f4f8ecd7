package command

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/requirements"
	"github.com/tfdeps/tfdeps/getproviders"
)

// collectRequirements finds out what has to be installed: what the
// configuration says, and what is needed to deal with objects of the state
// that the configuration doesn't mention any more.
func (r *initRun) collectRequirements() view.Problems {
	fromState, known, err := r.readState(r.product, r.opts.stateFile, r.record)
	if !known && r.locks.Empty() && r.record.Type != "inmem" && r.opts.state.with == "" {
		r.warnings = append(r.warnings, view.NewWarning("Providers that only the state needs may be missing", fmt.Sprintf(
			"The state is in the care of the backend %q, which wasn't asked, and there is no lock file that would tell what it needs. "+
				"If plan says that a provider is missing, run \"tfdeps init -with=%s\", which asks for the state, or hand the state over with -state=FILE, where - is standard input.",
			r.record.Type, r.product.Program)))
	}
	var problems view.Problems
	r.req, problems = r.combine(requirements.Parts{Product: r.product, Tree: r.tree, State: fromState, StateUnknown: !known, Locks: r.locks})
	if err != nil {
		problems = append(problems, view.NewError("Error loading state", err.Error()))
	}
	return problems
}

// combine puts the parts together, and says of legacy addresses where they come from.
func (m *Meta) combine(parts requirements.Parts) (getproviders.Requirements, view.Problems) {
	parts.KeepStateAddresses = m.Env.Get(translationVariable) == "0"
	required, problems := requirements.Combine(parts)
	for i, p := range problems {
		if legacy, ok := p.Extra.(requirements.LegacyProvider); ok {
			problems[i] = legacyProblem(required, legacy.Provider)
		}
	}
	return required, problems
}

func legacyProblem(req getproviders.Requirements, p getproviders.Provider) *view.Problem {
	return view.NewError("Invalid legacy provider address", fmt.Sprintf(
		"This configuration or its associated state refers to the unqualified provider %q, an address from "+
			"before Terraform 0.13 that says nothing of where the provider comes from.%s\n\n"+
			"You must complete the Terraform 0.13 upgrade process before upgrading to later versions.",
		p.Type, view.RequiredBy(req, p)))
}
