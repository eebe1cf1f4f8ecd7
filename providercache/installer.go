package providercache

import (
	"context"
	"errors"
	"maps"
	"path/filepath"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/link"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// Installer installs providers into a directory. It is a plain struct: set
// the fields, then call the methods, from as many goroutines as you like. It
// must not be copied, nor its fields changed, after the first call.
type Installer struct {
	Fetcher *fetcher.Fetcher // required: where packages come from, and how they are fetched and verified
	Target  *store.Store     // required: where packages go (".terraform/providers")

	// Cache is where this Target shares packages with other targets; nil: nowhere.
	// Link says how they get from there into Target. By default that is a symbolic
	// link to the package if the cache is Shared, else clones, hard links or copies
	// of its files.
	Cache *store.Store
	Link  link.Mode

	// Skip holds providers that the product gets by other means, such as one that its
	// developer runs. They are neither installed nor checked, no event is about
	// them, and their entries in the locks stay as they are as long as they are
	// required.
	Skip map[getproviders.Provider]bool
}

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
// *resolve.ProviderError for each provider that couldn't be installed, in order;
// a *resolve.UnwritableError, or *resolve.NoSpaceError, is one for all of them. See
// [resolve.Causes]. The Report has an Outcome for each provider, whatever became of it.
func (in *Installer) Install(ctx context.Context, req getproviders.Requirements, locks *depsfile.Locks, mode resolve.Mode) (*depsfile.Locks, Report, error) {
	if err := in.validate(); err != nil {
		return nil, Report{}, err
	}
	locks = resolve.OrEmpty(locks)
	wanted := in.withoutSkipped(req)
	in.Fetcher.Emit(ctx, event.QueuedEvent{Requirements: wanted})
	selections, unresolved := in.Fetcher.Resolver().Resolve(ctx, wanted, locks, mode)
	failed := failedOutcomes(unresolved)
	local := in.inspect(ctx, selections, locks, inTargetAndCache)
	failed = append(failed, in.refused(ctx, selections, local)...)
	plan := makePlan(wanted, selections, local)
	return conclude(req, locks, in.carryOut(ctx, plan, local, locks, failed))
}

// Plan says what Install would do, and of packages to fetch where they would come
// from and how large they are. It asks the Source for versions and for no package,
// reads packages that are present, and writes nothing. Its events are those of
// Install up to the choice of versions. The error is as Install's; the Plan is
// empty then.
func (in *Installer) Plan(ctx context.Context, req getproviders.Requirements, locks *depsfile.Locks, mode resolve.Mode) (Plan, error) {
	if err := in.validate(); err != nil {
		return Plan{}, err
	}
	locks = resolve.OrEmpty(locks)
	wanted := in.withoutSkipped(req)
	in.Fetcher.Emit(ctx, event.QueuedEvent{Requirements: wanted})
	selections, unresolved := in.Fetcher.Resolver().Resolve(ctx, wanted, locks, mode)
	failed := failedOutcomes(unresolved)
	local := in.inspect(ctx, selections, locks, inTargetAndCache)
	failed = append(failed, in.refused(ctx, selections, local)...)
	if len(failed) > 0 {
		return Plan{}, joinErrors(failed)
	}
	plan := makePlan(wanted, selections, local)
	in.locateFetches(ctx, plan.Fetch)
	return plan, nil
}

// withoutSkipped returns the requirements without the providers to skip.
func (in *Installer) withoutSkipped(req getproviders.Requirements) getproviders.Requirements {
	wanted := maps.Clone(req)
	maps.DeleteFunc(wanted, func(p getproviders.Provider, _ []getproviders.Requirement) bool { return in.Skip[p] })
	return wanted
}

func (in *Installer) validate() error {
	if in.Fetcher == nil || in.Fetcher.Source == nil || in.Target == nil {
		return errors.New("an Installer needs a Fetcher with a Source, and a Target")
	}
	return in.Fetcher.EffectivePlatform().Validate()
}

func (in *Installer) packagePath(p getproviders.Provider, v getproviders.Version) string {
	return in.Target.PackagePath(p, v, in.Fetcher.EffectivePlatform())
}

// partials is the directory in which parts of archives are kept for later runs;
// "" without a cache.
func (in *Installer) partials() string {
	if in.Cache == nil {
		return ""
	}
	return filepath.Join(in.Cache.Dir, download.PartialDir)
}

func (in *Installer) cachePath(s resolve.Selection) string {
	return in.Cache.PackagePath(s.Provider, s.Version, in.Fetcher.EffectivePlatform())
}
