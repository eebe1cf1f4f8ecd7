package command

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// collectRequirements finds out what has to be installed: what the
// configuration says, and what is needed to deal with objects of the state
// that the configuration doesn't mention any more.
func (r *initRun) collectRequirements() view.Problems {
	fromConfig, problems := r.tree.Requirements(r.product)
	fromState, err := r.stateRequirements()
	if err != nil {
		problems = append(problems, view.NewError("Error loading state", err.Error()))
	}
	r.req = fromConfig.Merge(r.inheritState(fromState, fromConfig, r.product))
	for _, p := range r.req.Providers() {
		if p.IsLegacy() {
			problems = append(problems, legacyProblem(r.req, p))
		}
	}
	return problems
}

// stateRequirements reads the state, if that can be done without a backend.
func (r *initRun) stateRequirements() (getproviders.Requirements, error) {
	required, known, err := r.readState(r.product, r.opts.stateFile, r.record)
	if !known {
		return r.lockedRequirements(), nil
	}
	return required, err
}

// lockedRequirements is what the lock file says is needed. Whoever wrote it
// may have seen the state, so that nothing is dropped from it as long as the
// state can't be seen.
func (r *initRun) lockedRequirements() getproviders.Requirements {
	required := getproviders.Requirements{}
	for _, lock := range r.locks.All() {
		if _, replaced := r.product.Inherits(lock.Provider); replaced {
			continue // by an entry of its own, as this is what the state would be read like
		}
		required.Add(lock.Provider, getproviders.Requirement{Origin: getproviders.Origin{File: depsfile.FileName}})
	}
	if r.locks.Empty() && r.record.Type != "inmem" && r.opts.state.with == "" {
		r.warnings = append(r.warnings, view.NewWarning("Providers that only the state needs may be missing", fmt.Sprintf(
			"The state is in the care of the backend %q, which wasn't asked, and there is no lock file that would tell what it needs. "+
				"If plan says that a provider is missing, run \"tfdeps init -with=%s\", which asks for the state, or hand the state over with -state=FILE, where - is standard input.",
			r.record.Type, r.product.Program)))
	}
	return required
}

func legacyProblem(req getproviders.Requirements, p getproviders.Provider) *view.Problem {
	return view.NewError("Invalid legacy provider address", fmt.Sprintf(
		"This configuration or its associated state refers to the unqualified provider %q, an address from "+
			"before Terraform 0.13 that says nothing of where the provider comes from.%s\n\n"+
			"You must complete the Terraform 0.13 upgrade process before upgrading to later versions.",
		p.Type, view.RequiredBy(req, p)))
}
