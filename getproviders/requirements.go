package getproviders

import (
	"maps"
	"slices"
)

// Pos is where a requirement was written, for messages. The zero value is
// "not known" (the caller of a library, say).
type Pos struct {
	Module string // path of the module, "module.a.module.b"; "" is the root module
	File   string // relative to where the program was started, as it is to be shown
	Line   int    // from 1; 0 if not known
	Column int    // from 1, in characters; 0 if not known
}

// Requirement is one thing that a configuration, a state or a caller asks of a provider.
type Requirement struct {
	Constraints Constraints // may be empty: any version
	Pos         Pos
}

// Requirements says which providers are needed and with which constraints:
// flat, whatever the tree of modules looked like. A provider may be in the map
// with constraints from many places; all of them have to hold. The zero (nil)
// value is empty and read-only; make one with make or a literal. Not safe for
// concurrent change.
type Requirements map[Provider][]Requirement

// Add records one more requirement.
func (r Requirements) Add(p Provider, req Requirement) {
	r[p] = append(r[p], req)
}

// Merge returns the requirements of r and others together, in this order; none
// is changed.
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
