package resolve

import (
	"context"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// Choice says which versions may be chosen. An error leaves a version out, and says why. Of the Candidates only Provider, Version,
// Platform, State and what is said here are known. All are called from many goroutines, and any may be nil.
type Choice struct {
	// Listed is asked about versions as their source lists them. SourceURL is "" where it isn't known.
	Listed func(context.Context, getproviders.Candidate) error
	// Dated and Signed are asked about those that Listed lets through, as long as none is chosen: Released is known, or Authentication, which
	// take requests for each.
	Dated, Signed func(context.Context, getproviders.Candidate) error
}

// mostExamined is how many versions of a provider are asked about.
const mostExamined = 10

// newest returns the newest version that the constraints and the Choice allow, and tells what is left out; ok is false if there is
// none, and left says why.
func (r Resolver) newest(ctx context.Context, s getproviders.Selection, available getproviders.Available) (newest getproviders.Version, left getproviders.LeftOut, ok bool) {
	if r.Choice.Listed == nil && r.Choice.Dated == nil && r.Choice.Signed == nil {
		newest, ok = s.Constraints.Newest(available.Versions)
		return newest, left, ok
	}
	allowed := slices.DeleteFunc(slices.Clone(available.Versions), func(v getproviders.Version) bool { return !s.Constraints.Allows(v) })
	slices.SortFunc(allowed, func(a, b getproviders.Version) int { return b.Compare(a) })
	leaves := r.leavesOut(ctx, s, available)
	examined := 0
	for i, v := range allowed {
		reason := leaves(v)
		if s.Version = v; reason == nil && (r.Choice.Dated != nil || r.Choice.Signed != nil) {
			if examined++; examined > mostExamined {
				left.Unexamined = len(allowed) - i
				break
			}
			if reason = examine(ctx, s, r.Date, r.Choice.Dated); reason == nil {
				reason = examine(ctx, s, r.Signer, r.Choice.Signed)
			}
		}
		if newest, ok = v, reason == nil; ok {
			break
		}
		left.Versions = append(left.Versions, getproviders.RefusedVersion{Version: v, Reason: reason})
	}
	if ok && len(left.Versions) > 0 {
		r.Emit(ctx, event.Event{Kind: event.LeftOut, Outcome: event.Outcome{Selection: s}, LeftOut: left})
	}
	return newest, left, ok
}

// examine asks about a version of which something was found out.
func examine(ctx context.Context, s getproviders.Selection, find func(context.Context, getproviders.Selection) (getproviders.Candidate, bool), ask func(context.Context, getproviders.Candidate) error) error {
	if ask == nil {
		return nil
	}
	if c, known := find(ctx, s); known {
		return ask(ctx, c)
	}
	return nil
}

// leavesOut returns Listed for a version of an answer. Where a package would come from isn't known of sources that may not be asked.
func (r Resolver) leavesOut(ctx context.Context, s getproviders.Selection, available getproviders.Available) func(getproviders.Version) error {
	source := r.Source.Describe(s.Provider)
	return func(v getproviders.Version) error {
		if r.Choice.Listed == nil {
			return nil
		}
		c := getproviders.Candidate{Provider: s.Provider, Version: v, Platform: r.Platform, State: getproviders.StateListed}
		if available.Details != nil {
			_, _, c.FromRegistry = available.Details(v)
		}
		if source.SourceURL != nil && len(source.Unasked) == 0 {
			c.SourceURL, _ = source.SourceURL(ctx, s.Provider, v, r.Platform)
		}
		return r.Choice.Listed(ctx, c)
	}
}
