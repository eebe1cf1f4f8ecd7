package providercache

import (
	"context"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// Plan is what there is to do, in the order of providers. It marshals to JSON.
type Plan struct {
	Present []resolve.Selection     `json:"present"`  // in Target already, and known to be what belongs there
	Link    []resolve.Selection     `json:"link"`     // in the cache, likewise
	Fetch   []PlannedFetch          `json:"fetch"`    // to be fetched
	BuiltIn []getproviders.Provider `json:"built_in"` // part of the product
}

// PlannedFetch is a package that has to be fetched.
type PlannedFetch struct {
	resolve.Selection
	Source   string `json:"source"`   // where it comes from, in words, as getproviders.Source.Describe has it
	Location string `json:"location"` // the URL of the registry or mirror, or the mirror's directory; "": the source doesn't say
	// Bytes is about how large the archive is: the size that a receipt records for
	// this version, or else for the last one; -1: no receipt records any.
	Bytes int64 `json:"bytes"`
}

// makePlan compares what was selected with what was seen.
func makePlan(req getproviders.Requirements, selections []resolve.Selection, local map[getproviders.Provider]localPackage) Plan {
	plan := Plan{Present: []resolve.Selection{}, Link: []resolve.Selection{}, Fetch: []PlannedFetch{}, BuiltIn: []getproviders.Provider{}}
	for _, p := range req.Providers() {
		if p.IsBuiltIn() {
			plan.BuiltIn = append(plan.BuiltIn, p)
		}
	}
	for _, s := range selections {
		switch seen := local[s.Provider]; {
		case seen.Refused != nil:
		case seen.Matches && seen.Version == s.Version:
			plan.Present = append(plan.Present, s)
		case seen.Cached != nil && seen.Version == s.Version:
			plan.Link = append(plan.Link, s)
		default:
			plan.Fetch = append(plan.Fetch, PlannedFetch{Selection: s, Bytes: -1})
		}
	}
	return plan
}

// toFetch lists the selections that have to be fetched.
func (p Plan) toFetch() (selections []resolve.Selection) {
	for _, f := range p.Fetch {
		selections = append(selections, f.Selection)
	}
	return selections
}

// locateFetches adds where packages would come from and how large they are. It
// asks the source for no package: a source that can't tell otherwise leaves the
// location empty.
func (in *Installer) locateFetches(ctx context.Context, fetches []PlannedFetch) {
	at := in.targetView()
	if in.Cache != nil {
		at = in.cacheView()
	}
	urls, _ := par.Map(ctx, in.Fetcher.Limits.WithDefaults().Queries, fetches, func(ctx context.Context, f PlannedFetch) (string, error) {
		return in.sourceURL(ctx, f.Selection), nil
	})
	for i := range fetches {
		f := &fetches[i]
		f.Source, f.Location = in.Fetcher.Source.Describe(f.Provider), urls[i]
		if bytes := in.archiveBytes(f.Selection, at); bytes > 0 {
			f.Bytes = bytes
		}
	}
}

// archiveBytes is the size of a package's archive as far as receipts know it.
func (in *Installer) archiveBytes(s resolve.Selection, at store.View) int64 {
	for _, known := range in.KnownPackages(s.Provider) {
		if known.Version == s.Version && known.ArchiveBytes > 0 {
			return known.ArchiveBytes
		}
	}
	return at.LastSize(in.packageName(s))
}
