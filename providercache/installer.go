package providercache

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/wrapped"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// Install makes Target hold a package for every requirement and returns the
// locks that belong to it. locks is what the lock file holds now; nil and
// empty are fine, and it isn't changed.
//
// The locks returned are those that were given, with three changes. Entries
// of packages that were fetched or came from the Cache are made again from the
// h1 of their files, the hashes that a signature covers, those that HashPolicy
// admits, and what was recorded before for the same version. Entries that have the h1 of what is in Target
// already stay as they are, even if constraints have changed. Entries of
// providers that aren't required go.
//
// A package that is in Target or in the Cache is used if it has one of the
// hashes that the lock file records for it. Where the lock file has none, it is
// used if a receipt says that it was fetched from the very source that would
// be asked for it now; the lock entry becomes what it would have become then.
// Else there is nothing to trust, and the package is fetched.
//
// Versions and descriptions of all packages are asked for before the first
// archive. If they show that a provider can't be installed, no archive is
// requested. The same holds if Target can't be written to, or if there is too little
// room for the archives whose sizes are known.
//
// If anything fails, the locks are nil and the error joins one
// *getproviders.Fault for each provider that couldn't be installed, in order;
// one that matches ErrUnwritable or ErrNoSpace is one for all of them. See
// [getproviders.SplitErrors]. The Report has an Outcome for each provider, whatever became of it.
func (in *Installer) Install(ctx context.Context, req getproviders.Requirements, locks *depsfile.Locks, mode Mode) (*depsfile.Locks, Report, error) {
	locks = resolve.OrEmpty(locks)
	outcomes, err := in.install(ctx, req, locks, mode)
	if err != nil {
		return nil, Report{}, err
	}
	return conclude(req, locks, outcomes)
}

func (in *Installer) install(ctx context.Context, req getproviders.Requirements, locks *depsfile.Locks, mode Mode) ([]outcome, error) {
	steps, target, err := in.decide(ctx, req, locks, mode)
	if err != nil {
		return nil, err
	}
	in.carryOut(ctx, steps, target)
	outcomes := steps.outcomes()
	slices.SortFunc(outcomes, func(a, b outcome) int { return a.Provider.Compare(b.Provider) })
	return outcomes, nil
}

// Plan says what Install would do, and of packages to fetch where they would come
// from and how large they are. It asks the Source for versions and for no package,
// reads packages that are present, and writes nothing. Its events are those of
// Install up to the choice of versions. The error is as Install's; the Plan is
// empty then.
func (in *Installer) Plan(ctx context.Context, req getproviders.Requirements, locks *depsfile.Locks, mode Mode) (Plan, error) {
	steps, target, err := in.decide(ctx, req, resolve.OrEmpty(locks), mode)
	if err == nil {
		err = joinErrors(steps.outcomes())
	}
	if err != nil {
		return Plan{}, err
	}
	return in.plan(ctx, req, steps, target), nil
}

// decide chooses versions, inspects what is there, and says what there is to do, and in which target.
func (in *Installer) decide(ctx context.Context, req getproviders.Requirements, locks *depsfile.Locks, mode Mode) (all steps, target store.View, err error) {
	if err := in.validate(); err != nil {
		return nil, target, err
	}
	wanted := in.withoutSkipped(req)
	in.fetcher().Emit(ctx, event.Event{Kind: event.Queued, Requirements: wanted})
	selections, unresolved := in.fetcher().Resolver().Resolve(ctx, wanted, locks, mode)
	for _, f := range unresolved {
		all = append(all, &step{Request: fetch.Request{Selection: f.Selection}, outcome: outcome{Outcome: f}})
	}
	target = in.targetView()
	local := in.inspect(ctx, target, selections, locks, true)
	for _, s := range selections {
		all = append(all, in.newStep(ctx, s, locks, local[s.Provider]))
	}
	return all, target, nil
}

// Plan is what there is to do, in the order of providers. It marshals to JSON.
type Plan struct {
	Present []getproviders.Selection `json:"present"`  // in Target already, and known to be what belongs there
	Link    []getproviders.Selection `json:"link"`     // in the cache, likewise
	Fetch   []PlannedFetch           `json:"fetch"`    // to be fetched
	BuiltIn []getproviders.Provider  `json:"built_in"` // part of the product
}

// PlannedFetch is a package that has to be fetched.
type PlannedFetch struct {
	getproviders.Selection
	Source   string `json:"source"`   // where it comes from, in words, as getproviders.Source.Describe has it
	Location string `json:"location"` // the URL of the registry or mirror, or the mirror's directory; "": the source doesn't say
	// Bytes is about how large the archive is: the size that a receipt records for
	// this version, or else for the last one; 0: no receipt records any.
	Bytes int64 `json:"bytes,omitzero"`
}

// plan says what the steps will do. For what has to be fetched it adds where that would
// come from and how large it is. It asks the source for no package: a source that can't tell
// otherwise leaves the location empty.
func (in *Installer) plan(ctx context.Context, req getproviders.Requirements, all steps, at store.View) Plan {
	plan := Plan{Present: all.to(keep).selections(), Link: all.to(linking).selections(), BuiltIn: []getproviders.Provider{}}
	for _, p := range in.withoutSkipped(req).Providers() {
		if p.IsBuiltIn() {
			plan.BuiltIn = append(plan.BuiltIn, p)
		}
	}
	if in.Cache != nil {
		at = in.cacheView()
	}
	plan.Fetch, _ = par.Map(context.WithoutCancel(ctx), in.fetcher().Limits.Queries, all.to(fetching), func(_ context.Context, s *step) (PlannedFetch, error) {
		return PlannedFetch{
			Selection: s.Selection, Source: in.fetcher().Source.Describe(s.Provider).Name, Location: in.sourceURL(ctx, s.Selection),
			Bytes: max(in.archiveBytes(s.Selection, at), 0),
		}, nil
	})
	return plan
}

// archiveBytes is the size of a package's archive as far as receipts know it.
func (in *Installer) archiveBytes(s getproviders.Selection, at store.View) int64 {
	for _, known := range in.KnownPackages(s.Provider) {
		if known.Version == s.Version && known.ArchiveBytes > 0 {
			return known.ArchiveBytes
		}
	}
	return at.LastSize(in.packageName(s))
}

// withoutSkipped returns the requirements without the providers to skip.
func (in *Installer) withoutSkipped(req getproviders.Requirements) getproviders.Requirements {
	wanted := maps.Clone(req)
	maps.DeleteFunc(wanted, func(p getproviders.Provider, _ []getproviders.Requirement) bool { return in.Skip[p] })
	return wanted
}

// conclude makes the new locks of what became of the selections.
func conclude(req getproviders.Requirements, locks *depsfile.Locks, outcomes []outcome) (*depsfile.Locks, Report, error) {
	report := Report{}
	for _, o := range outcomes {
		report.Outcomes = append(report.Outcomes, o.Outcome)
	}
	if err := joinErrors(outcomes); err != nil {
		return nil, report, err
	}
	updated := locks.Clone()
	for _, lock := range locks.All() {
		if _, required := req[lock.Provider]; !required {
			updated.Remove(lock.Provider)
		}
	}
	for _, o := range outcomes {
		if o.H1 == "" {
			tidy(updated, o.Selection)
			continue
		}
		prior := resolve.Recorded(locks, o.Selection)
		updated.Extend(depsfile.Lock{
			Provider:    o.Selection.Provider,
			Version:     o.Selection.Version,
			Constraints: o.Selection.Constraints,
			Hashes:      o.lockedHashes(prior),
		})
		if o.thisPlatformOnly(prior) {
			report.Incomplete = append(report.Incomplete, o.Selection.Provider)
		}
	}
	return updated, report, nil
}

// tidy sorts the hashes of an entry that otherwise stays, as Terraform does whenever it selects a version.
func tidy(locks *depsfile.Locks, selected getproviders.Selection) {
	lock, ok := locks.Provider(selected.Provider)
	if ok && !slices.Equal(hashing.Sort(lock.Hashes), lock.Hashes) {
		lock.Constraints = selected.Constraints
		locks.Extend(lock)
	}
}

// lockedHashes are what a lock file should hold of a package, of which it held prior before.
func (o outcome) lockedHashes(prior []getproviders.Hash) []getproviders.Hash {
	return hashing.Sort(slices.Concat([]getproviders.Hash{o.H1}, o.Authentication.Signed, fetch.RegistryHashes(o.registryHashes), prior))
}

// thisPlatformOnly reports whether the hashes of the package that was read here are the only
// ones that are known. Without a signature, a single other hash is that of its archive.
func (o outcome) thisPlatformOnly(prior []getproviders.Hash) bool {
	own := o.Authentication.TrustLevel == getproviders.LevelVerifiedChecksum && len(o.Authentication.Signed) == 1
	others := slices.ContainsFunc(prior, func(h getproviders.Hash) bool {
		return h.Supported() && h != o.H1 && !(own && h == o.Authentication.Signed[0])
	})
	return (own || len(o.Authentication.Signed) == 0) && len(o.registryHashes) == 0 && !others
}

// joinErrors returns the errors of outcomes, in their order. What keeps many from
// being installed at once is one of them.
func joinErrors(outcomes []outcome) error {
	var errs, shared []error
	for _, o := range outcomes {
		cause := sharedCause(o.Err)
		switch {
		case cause == nil: // not compared: some types of errors can't be
			errs = append(errs, o.Err)
		case !slices.Contains(shared, cause):
			errs, shared = append(errs, cause), append(shared, cause)
		}
	}
	return errors.Join(errs...)
}

// sharedCause is what keeps several from being installed at once; nil if an error is
// about one of them.
func sharedCause(err error) error {
	for _, part := range wrapped.All(err) {
		if f, ok := part.(*getproviders.Fault); ok && len(f.Providers) > 0 {
			return f
		}
	}
	return nil
}
