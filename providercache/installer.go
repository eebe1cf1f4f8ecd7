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

// Install puts a package for every requirement into Target and returns the new locks. locks is
// what the lock file holds now; nil and empty are fine, and Install doesn't change it.
//
// The new locks are a changed copy of locks. If a package was fetched or came from the
// Cache, its entry holds the h1 of its files, the hashes that a signature covers, those
// that HashPolicy admits, and those that were recorded before for the same version. If the
// entry has the h1 of a package that Target already holds, it stays as it is, even if
// constraints have changed. Entries of providers that aren't required are removed.
//
// A package in Target or in the Cache is used if the lock file records one of its hashes. If
// the lock file has no hashes for it, it is used if a receipt says that it was fetched from
// the same source that would be asked now; the lock entry is then the same as after a
// download. Otherwise nothing shows that the package is the right one, and it is fetched.
//
// Install asks for the versions and the metadata of all packages before it requests the first archive.
// It requests no archive if the metadata shows that a provider can't be installed, if Target can't be
// written to, or if there is too little room for the archives whose sizes are known.
//
// If anything fails, the locks are nil and the error joins one *getproviders.Fault for each
// provider that couldn't be installed, in order. A Fault that matches ErrUnwritable or
// ErrNoSpace stands for all providers that it names. See [getproviders.SplitErrors]. The
// Report has an Outcome for each provider, installed or not.
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

// Plan returns what Install would do, and for packages to fetch also their source and
// size. It asks the Source for versions but for no package, reads packages that are
// present, and writes nothing. Its events are those of Install up to the choice of
// versions. Its errors are those of Install; the Plan is empty then.
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

// decide chooses versions, inspects the packages on this machine, and
// returns the steps to carry out and the view of the target.
func (in *Installer) decide(ctx context.Context, req getproviders.Requirements, locks *depsfile.Locks, mode Mode) (all steps, target store.View, err error) {
	if err := in.validate(); err != nil {
		return nil, target, err
	}
	wanted := in.withoutSkipped(req)
	in.fetcher().Emit(ctx, event.Event{Kind: event.Queued, Requirements: wanted})
	selections, warnings, unresolved := in.fetcher().Resolver().Resolve(ctx, wanted, locks, mode)
	for _, f := range unresolved {
		all = append(all, &step{Request: fetch.Request{Selection: f.Selection}, outcome: outcome{Outcome: f}})
	}
	target = in.targetView()
	local := in.inspect(ctx, target, selections, locks, true)
	for _, s := range selections {
		step := in.newStep(ctx, s, locks, local[s.Provider])
		told, asked := warnings[s.Provider]
		in.warn(ctx, step, told, asked)
		all = append(all, step)
	}
	return all, target, nil
}

// warn notes what the registry has to say to the provider's users. If the registry wasn't asked, it is what it said when
// the package was fetched, which is shown again: the users who see it first may not be those who should act on it.
func (in *Installer) warn(ctx context.Context, s *step, told []string, asked bool) {
	if asked {
		s.warnings = told
		return
	}
	s.warnings = s.local.Warnings
	if len(s.warnings) > 0 {
		in.fetcher().Emit(ctx, event.Event{Kind: event.Warning, Outcome: Outcome{Selection: s.Selection}, Warnings: s.warnings})
	}
}

// Plan is what Install would do, each list sorted by provider. It marshals to JSON.
type Plan struct {
	Present []getproviders.Selection `json:"present"`  // in Target already, and known to be right
	Link    []getproviders.Selection `json:"link"`     // in the cache, and known to be right
	Fetch   []PlannedFetch           `json:"fetch"`    // to be fetched
	BuiltIn []getproviders.Provider  `json:"built_in"` // part of the product
}

// PlannedFetch is a package that has to be fetched.
type PlannedFetch struct {
	getproviders.Selection
	Source string `json:"source"` // where it comes from, for people, as getproviders.Source.Describe names it
	// Location is what the Description's SourceURL returns: the URL of the registry or mirror, or the path of an archive in a filesystem
	// mirror, with its size and modification time; "": the source doesn't tell, or the package is unpacked.
	Location string `json:"location"`
	// Bytes estimates the size of the archive: it is the size that receipts record for this
	// version, or else for another version of the provider; 0: no receipt has a size.
	Bytes int64 `json:"bytes,omitzero"`
}

// plan turns the steps into a Plan, with the source and size of packages to fetch. It asks the
// source for no package; Location is empty if the source tells it only with the package.
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

// archiveBytes returns the size of a package's archive, or of another version's, according to receipts.
func (in *Installer) archiveBytes(s getproviders.Selection, at store.View) int64 {
	for _, known := range in.KnownPackages(s.Provider) {
		if known.Version == s.Version && known.ArchiveBytes > 0 {
			return known.ArchiveBytes
		}
	}
	return at.LastSize(in.packageName(s))
}

// withoutSkipped returns the requirements without those of skipped providers.
func (in *Installer) withoutSkipped(req getproviders.Requirements) getproviders.Requirements {
	wanted := maps.Clone(req)
	maps.DeleteFunc(wanted, func(p getproviders.Provider, _ []getproviders.Requirement) bool { return in.Skip[p] })
	return wanted
}

// conclude makes the new locks and the report from the outcomes.
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

// lockedHashes returns the hashes that a lock file should hold for
// a package; prior are those that it holds now.
func (o outcome) lockedHashes(prior []getproviders.Hash) []getproviders.Hash {
	return hashing.Sort(slices.Concat([]getproviders.Hash{o.H1}, o.Authentication.Signed, fetch.RegistryHashes(o.registryHashes), prior))
}

// thisPlatformOnly reports whether the only known hashes are those of the package that was read
// here. If only a checksum was verified, Signed has one hash: that of the package's own archive.
func (o outcome) thisPlatformOnly(prior []getproviders.Hash) bool {
	own := o.Authentication.TrustLevel == getproviders.LevelVerifiedChecksum && len(o.Authentication.Signed) == 1
	others := slices.ContainsFunc(prior, func(h getproviders.Hash) bool {
		return h.Supported() && h != o.H1 && !(own && h == o.Authentication.Signed[0])
	})
	return (own || len(o.Authentication.Signed) == 0) && len(o.registryHashes) == 0 && !others
}

// joinErrors joins the errors of outcomes, in their order. An
// error that several providers share is included once.
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

// sharedCause returns the Fault that several providers share, or nil if the error is about one of them.
func sharedCause(err error) error {
	for _, f := range wrapped.As[*getproviders.Fault](err) {
		if len(f.Providers) > 0 {
			return f
		}
	}
	return nil
}
