package resolve

import (
	"cmp"
	"context"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// Choice says which versions may be chosen. An error leaves a version out, and says why. Candidates have only Provider,
// Version, Platform, State and the fields named below. The functions are called from many goroutines, and may be nil.
type Choice struct {
	// Listed is asked about versions as their source lists them. SourceURL is "" if it isn't known.
	Listed func(context.Context, getproviders.Candidate) error
	// Dated and Signed are asked, newest version first until one is chosen, about those that Listed lets
	// through. Their candidates have Released or Authentication, which takes requests for each version.
	Dated, Signed func(context.Context, getproviders.Candidate) error
}

// mostExamined bounds how many versions of a provider Dated and Signed are asked about.
const mostExamined = 10

// Choose returns the newest version that the constraints and the Choice allow, and emits
// which versions are left out. If ok is false, no version is allowed, and left says why.
func (r Resolver) Choose(ctx context.Context, s getproviders.Selection, available getproviders.Available) (newest getproviders.Version, left getproviders.LeftOut, ok bool) {
	if !r.Choice.LeavesAny() {
		newest, ok = s.Constraints.Newest(available.Versions)
		return newest, left, ok
	}
	allowed := slices.DeleteFunc(slices.Clone(available.Versions), func(v getproviders.Version) bool { return !s.Constraints.Allows(v) })
	slices.SortFunc(allowed, func(a, b getproviders.Version) int { return b.Compare(a) })
	examined := 0
	for i, v := range allowed {
		reason := ask(ctx, r.Choice.Listed, r.Listed(ctx, s.Provider, v, available))
		if s.Version = v; reason == nil && r.Choice.examines() {
			if examined++; examined > mostExamined {
				left.Unexamined = len(allowed) - i
				break
			}
			reason, left.Unknown = r.examine(ctx, s)
		}
		if reason == nil {
			newest, ok = v, true
			break
		}
		left.Versions = append(left.Versions, getproviders.Fault{Subject: getproviders.Subject{Version: v}, Err: reason})
	}
	if ok && len(left.Versions) > 0 {
		r.Emit(ctx, event.Event{Kind: event.LeftOut, Outcome: event.Outcome{Selection: s}, LeftOut: left})
	}
	return newest, left, ok
}

// Allowed returns the versions of listed that the Choice allows, in their order, for callers with constraints of their own, and the
// versions that it leaves out. It examines the ten newest versions that Choice.Listed lets through; older ones are allowed.
func (r Resolver) Allowed(ctx context.Context, listed []getproviders.Candidate) (allowed []getproviders.Version, left getproviders.LeftOut) {
	sorted := slices.SortedFunc(slices.Values(listed), func(a, b getproviders.Candidate) int { return b.Version.Compare(a.Version) })
	reasons := map[getproviders.Version]error{}
	var open []getproviders.Candidate
	for _, c := range sorted {
		if reasons[c.Version] = ask(ctx, r.Choice.Listed, c); reasons[c.Version] == nil && r.Choice.examines() && len(open) < mostExamined {
			open = append(open, c)
		}
	}
	_, errs := par.Map(ctx, mostExamined, open, func(ctx context.Context, c getproviders.Candidate) (struct{}, error) {
		reason, _ := r.examine(ctx, getproviders.Selection{Provider: c.Provider, Version: c.Version})
		return struct{}{}, reason
	})
	for i, c := range open {
		reasons[c.Version] = errs[i]
	}
	for _, c := range sorted {
		if reasons[c.Version] != nil {
			left.Versions = append(left.Versions, getproviders.Fault{Subject: getproviders.Subject{Version: c.Version}, Err: reasons[c.Version]})
		}
	}
	for _, c := range listed {
		if reasons[c.Version] == nil {
			allowed = append(allowed, c.Version)
		}
	}
	return allowed, left
}

// Listed returns a version as the source lists it. SourceURL stays empty for sources that may not be asked.
func (r Resolver) Listed(ctx context.Context, p getproviders.Provider, v getproviders.Version, available getproviders.Available) getproviders.Candidate {
	c := getproviders.Candidate{Provider: p, Version: v, Platform: r.Platform, State: getproviders.StateListed}
	c.FromRegistry = available.Details[v].FromRegistry
	if source := r.Source.Describe(p); source.SourceURL != nil && len(source.Unasked) == 0 && r.Choice.Listed != nil {
		c.SourceURL, _ = source.SourceURL(ctx, p, v, r.Platform)
	}
	return c
}

// Proposing returns a context in which the Source's errors propose only versions that the Choice allows. Versions that only requests could tell about
// aren't proposed.
func (r Resolver) Proposing(ctx context.Context) context.Context {
	if !r.Choice.LeavesAny() {
		return ctx
	}

	return getproviders.Proposing(ctx, func(p getproviders.Provider, v getproviders.Version) bool { return r.mayPropose(ctx, p, v) })
}

func (r Resolver) mayPropose(ctx context.Context, p getproviders.Provider, v getproviders.Version) bool {
	if r.Choice.examines() {
		return false
	}
	c := getproviders.Candidate{Provider: p, Version: v, Platform: r.Platform, State: getproviders.StateListed}

	return ask(ctx, r.Choice.Listed, c) == nil
}

// LeavesAny reports whether the Choice has any function, and examines whether it has one that takes requests.
func (c Choice) LeavesAny() bool { return c.Listed != nil || c.examines() }

func (c Choice) examines() bool { return c.Dated != nil || c.Signed != nil }

// examine asks Dated and Signed about a version. unknown is the error of a request that failed, so that the version counts as allowed.
func (r Resolver) examine(ctx context.Context, s getproviders.Selection) (reason, unknown error) {
	for _, by := range []struct {
		choice func(context.Context, getproviders.Candidate) error
		find   func(context.Context, getproviders.Selection) (getproviders.Candidate, bool, error)
	}{{r.Choice.Dated, r.Date}, {r.Choice.Signed, r.Signer}} {
		if by.choice == nil {
			continue
		}
		c, known, err := by.find(ctx, s)
		if unknown = cmp.Or(unknown, err); known {
			if reason = by.choice(ctx, c); reason != nil {
				return reason, nil
			}
		}
	}
	return nil, unknown
}

func ask(ctx context.Context, choice func(context.Context, getproviders.Candidate) error, c getproviders.Candidate) error {
	if choice == nil {
		return nil
	}
	return choice(ctx, c)
}
