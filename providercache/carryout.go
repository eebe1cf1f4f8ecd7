package providercache

import (
	"cmp"
	"context"
	"math"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/disk"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/link"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// carryOut does what the plan says and returns an outcome for each selection, and those
// of providers that have failed already. What metadata and directories
// show comes first: if any provider can't be installed, no archive is requested or unpacked.
// What is on this machine, unpacked, is put into its place nevertheless.
func (in *Installer) carryOut(ctx context.Context, d decision) []Outcome {
	plan, local, locks, failed := d.plan, d.local, d.locks, d.failed
	in.recordDue(ctx, plan, local)
	in.noteUses(ctx, plan)
	if len(plan.Link)+len(plan.Fetch) == 0 {
		in.sweep()
		return append(failed, in.reportPresent(ctx, plan.Present, local)...)
	}
	blocked, done := in.openTarget(ctx, plan)
	defer done()
	outcomes := slices.Concat(failed, blocked, in.reportPresent(ctx, plan.Present, local))
	tasks, missing := in.describe(ctx, plan.toFetch(), locks)
	in.nameDamaged(missing, local, locks)
	if len(blocked) > 0 {
		return slices.Concat(missing, withoutThoseOf(missing, outcomes)) // what a source says of a provider says more
	}
	linked, gone := in.link(ctx, plan.Link, local)
	more, unfound := in.describe(ctx, gone, locks)
	tasks, outcomes = append(tasks, more...), slices.Concat(outcomes, missing, linked, unfound)
	if len(failed)+len(missing)+len(unfound) > 0 {
		var withheld []Outcome
		tasks, withheld = in.withhold(ctx, tasks)
		outcomes = append(outcomes, withheld...)
	}
	outcomes = append(outcomes, in.fetch(ctx, largestFirst(in.withExpectedSizes(tasks)))...)
	in.recordPublished(ctx, outcomes)
	return outcomes
}

// noteUses records which packages of the cache Target uses, and is going to use.
func (in *Installer) noteUses(ctx context.Context, plan Plan) {
	if in.Cache != nil {
		in.Cache.NoteUses(ctx, store.Uses{
			State: in.Fetcher.EffectiveStateDir(), Target: in.Target.Dir, Present: in.packageNames(plan.Present),
			Due: in.packageNames(slices.Concat(plan.Link, plan.toFetch())), Link: in.linkModes(nil)[0] == link.Symlink,
		}, in.Fetcher.Time())
	}
}

// sweep removes what killed processes left.
func (in *Installer) sweep() {
	scratch.Sweep(in.Target.Dir, in.Fetcher.Time())
	if in.Cache != nil {
		scratch.Sweep(in.Cache.Dir, in.Fetcher.Time())
	}
}

// openTarget makes Target, and finds out whether packages can be put there. If
// not, blocked has an outcome with the same error for each. done removes the
// directory if it stayed empty.
func (in *Installer) openTarget(ctx context.Context, plan Plan) (blocked []Outcome, done func()) {
	made, err := disk.Probe(in.Target.Dir)
	if err == nil {
		in.sweep()
		return nil, func() { scratch.RemoveEmpty(made) }
	}
	scratch.RemoveEmpty(made)
	all := slices.Concat(plan.Link, plan.toFetch())
	cause := &resolve.UnwritableError{Dir: in.Target.Dir, Err: err}
	for _, s := range all {
		cause.Providers = append(cause.Providers, s.Provider)
	}
	for _, s := range all {
		blocked = append(blocked, failedOutcome(s, resolve.Fail(ctx, in.Fetcher.Emit, s, s.Failed(resolve.StepPublish, cause))))
	}
	return blocked, func() {}
}

// withhold takes out what would have to be unpacked, because other providers have
// failed. After the context has ended, that is why.
func (in *Installer) withhold(ctx context.Context, tasks []fetcher.Request) (rest []fetcher.Request, withheld []Outcome) {
	for _, t := range tasks {
		switch _, unpacked := t.Package.Location.(getproviders.LocalDirectory); {
		case unpacked:
			rest = append(rest, t)
		case ctx.Err() != nil:
			withheld = append(withheld, failedOutcome(t.Selection, resolve.Fail(ctx, in.Fetcher.Emit, t.Selection, context.Cause(ctx))))
		default:
			withheld = append(withheld, Outcome{Selection: t.Selection, NotTried: true})
		}
	}
	return rest, withheld
}

// withoutThoseOf leaves out the outcomes of providers that others are about.
func withoutThoseOf(others, outcomes []Outcome) []Outcome {
	return slices.DeleteFunc(slices.Clone(outcomes), func(o Outcome) bool {
		return slices.ContainsFunc(others, func(other Outcome) bool { return other.Selection.Provider == o.Selection.Provider })
	})
}

// reportPresent reports packages that are in Target already, and returns what
// the lock file has to learn about them.
func (in *Installer) reportPresent(ctx context.Context, selections []resolve.Selection, local map[getproviders.Provider]localPackage) (outcomes []Outcome) {
	for _, s := range selections {
		in.Fetcher.Emit(ctx, event.PresentEvent{Addr: s.Provider, Version: s.Version})
		o := Outcome{Selection: s, Present: true}
		if news := local[s.Provider].LockUpdate; news != nil {
			o.Authentication, o.H1, o.RegistryHashes = news.Authentication, news.H1, in.Fetcher.TrustedHashes(s.Provider, news.RegistryHashes)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// describe asks the source where the packages are. That is one short request
// for each, and all of them are done before the first archive is requested, so
// that the order of downloads can be chosen.
func (in *Installer) describe(ctx context.Context, selections []resolve.Selection, locks *depsfile.Locks) (tasks []fetcher.Request, failed []Outcome) {
	found, errs := resolve.Map(ctx, in.Fetcher.Emit, in.Fetcher.Limits.WithDefaults().Queries, selections, func(ctx context.Context, s resolve.Selection) (fetcher.Request, error) {
		pkg, err := in.Fetcher.Source.Package(ctx, s.Provider, s.Version, in.Fetcher.EffectivePlatform())
		if err != nil {
			return fetcher.Request{}, s.Failed(resolve.StepMetadata, err)
		}
		return fetcher.Request{
			Selection: s, Package: pkg, Recorded: resolve.Recorded(locks, s), Partials: in.partials(), Final: in.packagePath(s.Provider, s.Version),
		}, nil
	})
	for i, err := range errs {
		if err != nil {
			failed = append(failed, failedOutcome(selections[i], err))
		} else {
			tasks = append(tasks, found[i])
		}
	}
	return tasks, failed
}

// nameDamaged adds to failures, where no request is allowed, that there is a package in Target, and
// isn't what the lock file records.
func (in *Installer) nameDamaged(missing []Outcome, local map[getproviders.Provider]localPackage, locks *depsfile.Locks) {
	for _, o := range missing {
		s := o.Selection
		there := local[s.Provider]
		hashed := len(resolve.OfScheme(resolve.Recorded(locks, s), getproviders.SchemeH1)) > 0 // without these, it isn't known what the package is
		if !there.Exists || there.Matches || there.Version != s.Version || !hashed {
			continue
		}
		for _, absent := range getproviders.NotCached(o.Err) {
			absent.Damaged = in.packagePath(s.Provider, s.Version)
		}
	}
}

// fetch fetches the packages, many at once. All of them may wait in the queues
// for a download and for an unpacker, which keep the order of tasks.
func (in *Installer) fetch(ctx context.Context, tasks []fetcher.Request) []Outcome {
	if len(tasks) == 0 {
		return nil
	}
	fetch, withCache := in.fetchIntoTarget, false
	if in.Cache != nil {
		made, err := disk.Probe(in.Cache.Dir)
		defer func() { scratch.RemoveEmpty(made) }()
		download.SweepPartials(in.partials(), in.Fetcher.Time())
		if withCache = err == nil; withCache {
			fetch = in.fetchOne
		}
	}
	tasks, refused := in.reserve(ctx, in.findRoom(withCache), tasks)
	downloads, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	get := func(ctx context.Context, t fetcher.Request, stage *staging.Stage) (receipt.Provenance, error) {
		got, err := in.Fetcher.Fetch(downloads, t, stage)
		return got, endAll(ctx, downloads, stop, t, err)
	}
	outcomes, errs := resolve.Map(ctx, in.Fetcher.Emit, in.Fetcher.Limits.WithDefaults().Queries, tasks, func(ctx context.Context, t fetcher.Request) (Outcome, error) {
		if refused != nil {
			return Outcome{}, t.Failed(resolve.StepFetch, refused)
		}
		return fetch(ctx, t, get)
	})
	for i, err := range errs {
		if err != nil {
			outcomes[i] = failedOutcome(tasks[i].Selection, err)
		}
	}
	sharedFailures(outcomes)
	return outcomes
}

// prepare creates a directory that packages are going to be put into, and
// removes what killed processes left in it. done removes the directory if it
// stayed empty.
func (in *Installer) prepare(dir string) (done func()) {
	made, _ := scratch.MakeDirs(dir) // an error comes up again where each package is written
	scratch.Sweep(dir, in.Fetcher.Time())
	return func() { scratch.RemoveEmpty(made) }
}

// largestFirst puts first what takes longest, so that the last download doesn't
// leave the other cores idle for long. Only a receipt tells the size of a
// remote archive before it is requested. The network is slow, so archives of
// unknown size come first, in the order of providers.
func largestFirst(tasks []fetcher.Request) []fetcher.Request {
	return slices.SortedStableFunc(slices.Values(tasks), func(a, b fetcher.Request) int {
		return cmp.Compare(cost(b), cost(a))
	})
}

func cost(t fetcher.Request) int64 {
	switch at := t.Package.Location.(type) {
	case getproviders.HTTPArchive, getproviders.Archive:
		if t.Bytes > 0 {
			return t.Bytes
		}
		return math.MaxInt64
	case getproviders.LocalArchive:
		if info, err := os.Stat(string(at)); err == nil {
			return info.Size()
		}
	}
	return 0
}

// withExpectedSizes adds to requests how large the provider's archive was in
// the last version that a receipt records. A provider's size changes little
// from version to version, so this is good enough for choosing an order.
func (in *Installer) withExpectedSizes(tasks []fetcher.Request) []fetcher.Request {
	if len(tasks) < 2 {
		return tasks
	}
	at := in.targetView()
	if in.Cache != nil {
		at = in.cacheView()
	}
	for i, t := range tasks {
		if download.IsRemote(t.Package.Location) {
			tasks[i].Bytes = at.LastSize(in.packageName(t.Selection))
		}
	}
	return tasks
}
