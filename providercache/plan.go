package providercache

import (
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// Plan is what there is to do, in the order of providers. It marshals to JSON.
type Plan struct {
	Present []resolve.Selection     `json:"present"`  // in Target already, and known to be what belongs there
	Link    []resolve.Selection     `json:"link"`     // in the cache, likewise
	Fetch   []resolve.Selection     `json:"fetch"`    // to be fetched
	BuiltIn []getproviders.Provider `json:"built_in"` // part of the product
}

// makePlan compares what was selected with what was seen.
func makePlan(req getproviders.Requirements, selections []resolve.Selection, local map[getproviders.Provider]localPackage) Plan {
	plan := Plan{Present: []resolve.Selection{}, Link: []resolve.Selection{}, Fetch: []resolve.Selection{}, BuiltIn: []getproviders.Provider{}}
	for _, p := range req.Providers() {
		if p.IsBuiltIn() {
			plan.BuiltIn = append(plan.BuiltIn, p)
		}
	}
	for _, s := range selections {
		switch seen := local[s.Provider]; {
		case seen.Matches && seen.Version == s.Version:
			plan.Present = append(plan.Present, s)
		case seen.Cached != nil && seen.Version == s.Version:
			plan.Link = append(plan.Link, s)
		default:
			plan.Fetch = append(plan.Fetch, s)
		}
	}
	return plan
}
