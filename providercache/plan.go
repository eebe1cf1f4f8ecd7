package providercache

import "github.com/tfdeps/tfdeps/getproviders"

// Plan is what there is to do, in the order of providers. It marshals to JSON.
type Plan struct {
	Present []Selection             `json:"present"`  // in Target already, with a hash that the locks record
	Fetch   []Selection             `json:"fetch"`    // to be fetched
	BuiltIn []getproviders.Provider `json:"built_in"` // part of the engine
}

// makePlan compares what was selected with what was seen.
func makePlan(req getproviders.Requirements, selections []Selection, local map[getproviders.Provider]sighting) Plan {
	plan := Plan{Present: []Selection{}, Fetch: []Selection{}, BuiltIn: []getproviders.Provider{}}
	for _, p := range req.Providers() {
		if p.IsBuiltIn() {
			plan.BuiltIn = append(plan.BuiltIn, p)
		}
	}
	for _, s := range selections {
		if seen := local[s.Provider]; seen.Genuine && seen.Version == s.Version {
			plan.Present = append(plan.Present, s)
		} else {
			plan.Fetch = append(plan.Fetch, s)
		}
	}
	return plan
}
