package providercache

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Selection is a provider with the version that was chosen for it.
type Selection struct {
	Provider    getproviders.Provider    `json:"provider"`
	Version     getproviders.Version     `json:"version"`
	Constraints getproviders.Constraints `json:"constraints"`
	Locked      bool                     `json:"locked"` // the lock file decided
}

// resolve chooses a version for every provider that isn't built in. A locked
// version is a choice that costs no request; in Normal mode it stands, and if
// the constraints don't allow it, that is an error. The Source is asked for
// the rest. What can't be resolved comes as failed outcomes.
func (f *Fetcher) resolve(ctx context.Context, req getproviders.Requirements, locks *depsfile.Locks, mode Mode) (selections []Selection, failed []Outcome) {
	open := make([]Selection, 0, len(req))
	for _, p := range req.Providers() {
		open = append(open, Selection{Provider: p, Constraints: req.Constraints(p)})
	}
	settle := func(ctx context.Context, s Selection) (Selection, error) {
		if s.Provider.IsBuiltIn() {
			return s, f.checkBuiltIn(ctx, s)
		}
		if s.Provider.IsLegacy() {
			return s, s.failed(StepQuery, errors.New("an address without a namespace, as old states have it, can be neither installed nor locked"))
		}
		if err := s.Provider.Validate(); err != nil {
			return s, s.failed(StepQuery, err)
		}
		if lock, ok := locks.Provider(s.Provider); ok && mode == Normal {
			return f.keepLocked(ctx, s, lock, req[s.Provider])
		}
		return f.selectNewest(ctx, s, req[s.Provider])
	}
	settled, errs := mapTold(ctx, f, f.Limits.withDefaults().Queries, open, settle)
	for i, s := range settled {
		switch {
		case errs[i] != nil:
			failed = append(failed, failedOutcome(open[i], errs[i]))
		case !s.Provider.IsBuiltIn():
			selections = append(selections, s)
		}
	}
	return selections, failed
}

// checkBuiltIn judges a requirement that names a part of the product. There is
// one such provider, and it has no versions of its own.
func (f *Fetcher) checkBuiltIn(ctx context.Context, s Selection) error {
	if err := builtInProblem(s, f.Product); err != nil {
		return s.failed(StepBuiltIn, err)
	}
	f.emit(ctx, BuiltInAvailable{Provider: s.Provider})
	return nil
}

func builtInProblem(s Selection, product getproviders.Product) error {
	name := product.Name
	if name == "" {
		name = "Terraform"
	}
	if s.Provider.Type != "terraform" {
		return fmt.Errorf("this %s release has no built-in provider named %q", name, s.Provider.Type)
	}
	if !s.Constraints.IsEmpty() {
		return fmt.Errorf("built-in providers do not support explicit version constraints, and %s has %q", s.Provider, s.Constraints)
	}
	return nil
}

// keepLocked chooses the version that the lock file records.
func (f *Fetcher) keepLocked(ctx context.Context, s Selection, lock depsfile.Lock, required []getproviders.Requirement) (Selection, error) {
	s.Version, s.Locked = lock.Version, true
	if err := s.Version.Validate(); err != nil {
		return s, s.failed(StepLock, err)
	}
	f.emit(ctx, QueryBegin{Provider: s.Provider, Constraints: s.Constraints, Locked: true})
	if !s.Constraints.Allows(lock.Version) {
		unmet, met := judgeLocked(required, lock.Version)
		return s, s.failed(StepLock, &LockedVersionError{
			Provider: s.Provider, Version: lock.Version, Constraints: s.Constraints, Requirements: unmet, Others: met, Product: f.Product,
		})
	}
	f.emit(ctx, QueryDone{Provider: s.Provider, Version: s.Version})
	return s, nil
}

// selectNewest asks the Source and chooses the newest version that is allowed.
func (f *Fetcher) selectNewest(ctx context.Context, s Selection, required []getproviders.Requirement) (Selection, error) {
	f.emit(ctx, QueryBegin{Provider: s.Provider, Constraints: s.Constraints})
	available, err := f.Source.Versions(ctx, s.Provider)
	if err != nil {
		return s, s.failed(StepQuery, err)
	}
	if len(available.Warnings) > 0 {
		f.emit(ctx, QueryWarning{Provider: s.Provider, Warnings: available.Warnings})
	}
	newest, ok := s.Constraints.Newest(available.Versions)
	if !ok {
		if err := f.unasked(s.Provider); err != nil {
			return s, s.failed(StepSelect, err)
		}
		return s, s.failed(StepSelect, &NoVersionError{
			Provider: s.Provider, Constraints: s.Constraints, Source: f.Source.Describe(s.Provider), Newest: maxVersion(available.Versions),
			Conflict: FindConflict(required, available.Versions),
		})
	}
	if err := newest.Validate(); err != nil {
		return s, s.failed(StepSelect, err)
	}
	s.Version = newest
	f.emit(ctx, QueryDone{Provider: s.Provider, Version: newest})
	return s, nil
}

func maxVersion(versions []getproviders.Version) (newest getproviders.Version) {
	for i, v := range versions {
		if i == 0 || v.Compare(newest) > 0 {
			newest = v
		}
	}
	return newest
}
