package getproviders

import (
	"maps"
	"slices"
)

// Pos is where a requirement was written, for messages. The zero value means unknown, such as a
// requirement of a program.
type Pos struct {
	Module string // path of the module, "module.a.module.b"; "" is the root module
	File   string // as messages show it, relative to the directory where the program was started
	Line   int    // from 1; 0 if unknown
	Column int    // from 1, in characters; 0 if unknown
}

// Requirement is one condition that a configuration, a state or a caller has for a provider.
type Requirement struct {
	Constraints Constraints // empty allows any version
	Pos         Pos
}

// Requirements are the required providers with their constraints, from all modules. A provider may
// have constraints from many places; all of them apply. The zero (nil) value is empty and
// read-only; make one with make or a literal. Not safe for concurrent change.
type Requirements map[Provider][]Requirement

// Add records one more requirement.
func (r Requirements) Add(p Provider, req Requirement) {
	r[p] = append(r[p], req)
}

// Merge returns the requirements of r and others in this order. It changes none of them.
func (r Requirements) Merge(others ...Requirements) Requirements {
	merged := make(Requirements, len(r))
	for _, from := range append([]Requirements{r}, others...) {
		for p, reqs := range from {
			merged[p] = slices.Concat(merged[p], reqs)
		}
	}
	return merged
}

// Providers returns the providers in the order of Provider.Compare.
func (r Requirements) Providers() []Provider {
	return slices.SortedFunc(maps.Keys(r), Provider.Compare)
}

// Constraints returns all constraints on p together.
func (r Requirements) Constraints(p Provider) Constraints {
	var all Constraints
	for _, req := range r[p] {
		all = all.And(req.Constraints)
	}
	return all
}
