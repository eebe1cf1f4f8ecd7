// Package resolve chooses a version for each provider that a configuration requires.
//
//	r := resolve.Resolver{Source: source, Queries: 32, Emit: func(context.Context, event.Event) {}}
//	selections, failed := r.Resolve(ctx, requirements, locks, resolve.Normal)
//
// Resolve gets the requirements, the lock file (nil: no lock file) and a source to ask for versions. It
// returns one selection for each provider that isn't built in, and the failures; the failure of one
// provider doesn't stop the others. In Normal mode locked versions are kept, and need no request.
package resolve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// Resolver chooses versions. It is safe for concurrent use.
type Resolver struct {
	Source  getproviders.Source
	Product getproviders.Product               // for built-in providers and messages
	Queries int                                // requests at once, at least 1
	Emit    func(context.Context, event.Event) // required; called from several goroutines at once

	Choice   Choice
	Platform getproviders.Platform // of the candidates that Choice gets
	// Date finds out when a version was released, for Choice.Dated, and Signer who signed it, for
	// Choice.Signed. known is false if that can't be found out; err is the error of a request that failed.
	Date, Signer func(context.Context, getproviders.Selection) (c getproviders.Candidate, known bool, err error)
}

// Resolve chooses a version for every provider that isn't built in. In Normal mode a locked version
// is kept without a request, and is an error if the constraints don't allow it. For all other
// providers Resolve asks the Source. warnings has an entry for each provider whose source was asked, also if
// there was nothing to say. failed has the providers that can't be resolved.
func (r Resolver) Resolve(
	ctx context.Context, req getproviders.Requirements, locks *depsfile.Locks, mode Mode,
) (selections []getproviders.Selection, warnings map[getproviders.Provider][]string, failed []event.Outcome) {
	open := make([]getproviders.Selection, 0, len(req))
	for _, p := range req.Providers() {
		open = append(open, getproviders.Selection{Provider: p, Constraints: req.Constraints(p)})
	}
	choose := func(ctx context.Context, s getproviders.Selection) (choice, error) {
		if s.Provider.IsBuiltIn() {
			return choice{Selection: s}, r.checkBuiltIn(ctx, s)
		}
		if s.Provider.IsLegacy() {
			return choice{}, s.Failed(during.Query, errors.New("an address without a namespace, as old states have it, can be neither installed nor locked"))
		}
		if err := s.Provider.Validate(); err != nil {
			return choice{}, s.Failed(during.Query, err)
		}
		if lock, ok := locks.Provider(s.Provider); ok && mode == Normal {
			kept, err := r.keepLocked(ctx, s, lock, req[s.Provider])
			return choice{Selection: kept}, err
		}
		return r.newest(ctx, s, req[s.Provider])
	}
	chosen, errs := Map(ctx, r.Emit, r.Queries, open, choose)
	warnings = map[getproviders.Provider][]string{}
	for i, s := range chosen {
		switch {
		case errs[i] != nil:
			failed = append(failed, event.Outcome{Selection: AtVersionOf(open[i], errs[i]), State: event.Failed, Err: errs[i]})
		case !s.Provider.IsBuiltIn():
			selections = append(selections, s.Selection)
			if s.asked {
				warnings[s.Provider] = s.warnings
			}
		}
	}
	return selections, warnings, failed
}

// checkBuiltIn checks a requirement for a provider that is part of the product. There is
// one such provider, and it has no versions of its own.
func (r Resolver) checkBuiltIn(ctx context.Context, s getproviders.Selection) error {
	if err := BuiltInProblem(s, r.Product); err != nil {
		return s.Failed(during.BuiltIn, err)
	}
	r.Emit(ctx, event.Event{Kind: event.Done, Outcome: event.Outcome{Selection: s, State: event.BuiltIn}})
	return nil
}

// BuiltInProblem returns why a built-in provider can't be used as required, or nil if it can.
func BuiltInProblem(s getproviders.Selection, product getproviders.Product) error {
	if s.Provider.Type != "terraform" {
		return fmt.Errorf("this %s release has no built-in provider named %q", product.Name, s.Provider.Type)
	}
	if !s.Constraints.IsEmpty() {
		return fmt.Errorf("built-in providers do not support explicit version constraints, and %s has %q", s.Provider, s.Constraints)
	}
	return nil
}

// keepLocked chooses the version that the lock file records.
func (r Resolver) keepLocked(ctx context.Context, s getproviders.Selection, lock depsfile.Lock, required []getproviders.Requirement) (getproviders.Selection, error) {
	s.Version, s.Locked = lock.Version, true
	if err := s.Version.Validate(); err != nil {
		return s, s.Failed(during.Lock, err)
	}
	r.tell(ctx, event.Query, s)
	if !s.Constraints.Allows(lock.Version) {
		unmet, met := cause.SplitByVersion(required, lock.Version)
		failed := s.Failed(during.Lock, &cause.LockedVersionError{
			Provider: s.Provider, Version: lock.Version, Constraints: s.Constraints, Requirements: unmet, Others: met, Product: r.Product,
		})
		failed.Code, failed.Kind = "locked_version", getproviders.ErrLockedVersion
		return s, failed
	}
	r.tell(ctx, event.Selected, s)
	return s, nil
}

// Newest asks the Source and chooses the newest version that is allowed.
func (r Resolver) Newest(ctx context.Context, s getproviders.Selection, required []getproviders.Requirement) (getproviders.Selection, error) {
	chosen, err := r.newest(ctx, s, required)
	return chosen.Selection, err
}

// choice is a selection, and what its source has to say to users.
type choice struct {
	getproviders.Selection
	asked    bool // the source was asked for its versions
	warnings []string
}

func (r Resolver) newest(ctx context.Context, s getproviders.Selection, required []getproviders.Requirement) (choice, error) {
	r.tell(ctx, event.Query, s)
	available, err := r.Source.Versions(ctx, s.Provider)
	if err != nil {
		return choice{Selection: s}, s.Failed(during.Query, err)
	}
	warnings := slices.Concat(available.Warnings, available.PassedOver)
	if len(warnings) > 0 {
		r.Emit(ctx, event.Event{Kind: event.Warning, Outcome: event.Outcome{Selection: s}, Warnings: warnings})
	}
	newest, left, ok := r.Choose(ctx, s, available)
	if !ok && len(left.Versions) > 0 {
		return choice{Selection: s}, s.Failed(during.Select, cause.Refused(getproviders.Candidate{Provider: s.Provider}, left))
	}
	if !ok {
		source := r.Source.Describe(s.Provider)
		var unasked []error // sources that may have it
		for _, err := range source.Unasked {
			unasked = append(unasked, err)
		}
		if len(unasked) > 0 {
			return choice{Selection: s}, s.Failed(during.Select, errors.Join(unasked...))
		}
		none := &cause.NoVersionError{
			Provider: s.Provider, Constraints: s.Constraints, Source: source.Name,
			Conflict: cause.FindConflict(required, available.Versions),
		}
		proposed := available.Versions
		if r.Choice.LeavesAny() {
			refused := func(v getproviders.Version) bool { return !r.mayPropose(ctx, s.Provider, v) }
			proposed = slices.DeleteFunc(slices.Clone(available.Versions), refused)
		}
		if len(available.Versions) > 0 {
			none.Newest = slices.MaxFunc(available.Versions, getproviders.Version.Compare)
			none.NewestRefused = !slices.Contains(proposed, none.Newest)
		}
		none.Below, none.Above, none.Prerelease = s.Constraints.Nearest(proposed)
		failed := s.Failed(during.Select, none)
		failed.Code, failed.Kind = "no_matching_version", getproviders.ErrNoMatchingVersion
		return choice{Selection: s}, failed
	}
	if err := newest.Validate(); err != nil {
		return choice{Selection: s}, s.Failed(during.Select, err)
	}
	s.Version = newest
	r.tell(ctx, event.Selected, s)
	online := len(r.Source.Describe(s.Provider).Unasked) == 0
	return choice{Selection: s, asked: online, warnings: available.Warnings}, nil
}

func (r Resolver) tell(ctx context.Context, kind event.Kind, s getproviders.Selection) {
	r.Emit(ctx, event.Event{Kind: kind, Outcome: event.Outcome{Selection: s}})
}
