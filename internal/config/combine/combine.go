// Package combine combines the requirements of the modules of a directory, its state and its lock
// file.
package combine

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/config/modules"
)

// Parts are the sources of requirements.
type Parts struct {
	Product getproviders.Product
	Tree    *modules.Tree // the configuration with its modules

	// State has the requirements of the state. If StateUnknown is set, the state can't be read, and
	// the providers in Locks are required in its place.
	State        getproviders.Requirements
	StateUnknown bool
	Locks        *depsfile.Locks // nil without a lock file

	// KeepStateAddresses keeps the addresses in the state. Otherwise those that the product's
	// predecessor wrote for its own registry become those of the product's, as in
	// load.InheritState.
	KeepStateAddresses bool
}

// LegacyProvider is the Extra of the problem of a required address from before Terraform 0.13,
// which doesn't say where the provider comes from.
type LegacyProvider struct{ Provider getproviders.Provider }

// Combine returns the requirements of all parts. The problems are those of
// [modules.Tree.Requirements], and one with [LegacyProvider] for each address that can't be
// installed. The requirements are complete even with problems.
func Combine(p Parts) (getproviders.Requirements, hcl.Diagnostics) {
	required, problems := p.Tree.Requirements()
	fromState := p.State
	if p.StateUnknown {
		fromState = locked(p.Locks, p.Product)
	}
	if !p.KeepStateAddresses {
		fromState = load.InheritState(fromState, required, p.Product)
	}
	required = required.Merge(fromState)
	for _, provider := range required.Providers() {
		if provider.IsLegacy() {
			problems = append(problems, legacy(provider))
		}
	}
	return required, problems
}

// locked returns the providers of the lock file. It leaves out the predecessor's entries that the
// product's own entries replace, as in a state.
func locked(locks *depsfile.Locks, product getproviders.Product) getproviders.Requirements {
	required := getproviders.Requirements{}
	for _, lock := range locks.All() {
		own, inherited := product.Inherits(lock.Provider)
		if _, replaced := locks.Provider(own); !inherited || !replaced {
			required.Add(lock.Provider, getproviders.Requirement{Pos: getproviders.Pos{File: depsfile.FileName}})
		}
	}
	return required
}

// Disinherit removes the locks that [depsfile.Locks.Inherit] added for providers that aren't required, because the configuration requires the
// predecessor's providers by their full addresses. It returns the other inherited locks.
func Disinherit(locks *depsfile.Locks, inherited []depsfile.Lock, required getproviders.Requirements, product getproviders.Product) []depsfile.Lock {
	return slices.DeleteFunc(inherited, func(lock depsfile.Lock) bool {
		own, _ := product.Inherits(lock.Provider)
		_, needed := required[own]
		_, written := required[lock.Provider]
		if written && !needed {
			locks.Remove(own)
		}
		return written && !needed
	})
}

func legacy(p getproviders.Provider) *hcl.Diagnostic {
	diag := diagnostic.Placeless("Invalid legacy provider address",
		"This configuration or its associated state refers to the unqualified provider %q, an address from "+
			"before Terraform 0.13 that doesn't say where the provider comes from.\n\n"+
			"You must complete the Terraform 0.13 upgrade process before upgrading to later versions.", p.Type)
	diag.Extra = LegacyProvider{p}
	return diag
}
