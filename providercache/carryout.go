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
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/link"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// carryOut does what the plan says and returns an outcome for each selection.
func (in *Installer) carryOut(ctx context.Context, plan Plan, local map[getproviders.Provider]sighting, locks *depsfile.Locks) []Outcome {
	in.rememberRead(ctx, plan, local)
	if in.Cache != nil {
		in.Cache.NoteUses(ctx, store.Uses{
			State: in.Fetcher.EffectiveStateDir(), Target: in.Target.Dir, Present: in.packageNames(plan.Present),
			Due: in.packageNames(slices.Concat(plan.Link, plan.Fetch)), Link: in.ladder()[0] == link.Symlink,
		}, in.Fetcher.Time())
	}
	if len(plan.Link)+len(plan.Fetch) == 0 { // else it is done before packages come
		scratch.Sweep(in.Target.Dir, in.Fetcher.Time())
		if in.Cache != nil {
			scratch.Sweep(in.Cache.Dir, in.Fetcher.Time())
		}
	}
	present := in.keep(ctx, plan.Present, local)
	linked, gone := in.link(ctx, plan.Link, local)
	tasks, failed := in.describe(ctx, slices.Concat(plan.Fetch, gone), locks)
	outcomes := slices.Concat(present, linked, failed, in.fetch(ctx, largestFirst(in.sized(tasks))))
	in.rememberPlaced(ctx, outcomes)
	return outcomes
}

// keep tells of packages that are in Target already.
func (in *Installer) keep(ctx context.Context, selections []resolve.Selection, local map[getproviders.Provider]sighting) (outcomes []Outcome) {
	for _, s := range selections {
		in.Fetcher.Emit(ctx, event.PresentEvent{Addr: s.Provider, Version: s.Version})
		o := Outcome{Selection: s, Present: true}
		if news := local[s.Provider].News; news != nil {
			o.Authentication, o.H1, o.Told = news.Authentication, news.H1, in.Fetcher.HashPolicy.Believed(news.Told)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// rememberRead gives receipts to what had to be hashed.
func (in *Installer) rememberRead(ctx context.Context, plan Plan, local map[getproviders.Provider]sighting) {
	var inTarget, inCache []receipt.Pending
	for _, s := range slices.Concat(plan.Present, plan.Link, plan.Fetch) {
		for _, p := range local[s.Provider].Read {
			if p.Shared {
				inCache = append(inCache, p)
			} else {
				inTarget = append(inTarget, p)
			}
		}
	}
	if len(inTarget) > 0 {
		in.targetShelf().Record(ctx, inTarget...)
	}
	if len(inCache) > 0 {
		in.rememberShared(ctx, inCache)
	}
}

// rememberShared gives receipts to packages of the cache that had to be hashed,
// maybe because others were about to link their files: then they have renewed
// these receipts by now, and know better.
func (in *Installer) rememberShared(ctx context.Context, read []receipt.Pending) {
	names := make([]string, len(read))
	for i, p := range read {
		names[i] = p.Name
	}
	in.Cache.EachLocked(ctx, names, func(held []int) {
		at := in.cacheShelf()
		at.Record(ctx, slices.DeleteFunc(chosen(read, held), func(p receipt.Pending) bool {
			_, known := at.Known(p.Name)
			return known
		})...)
	})
}

// rememberPlaced gives receipts to what has been put into Target. Those of all
// packages are made together, at the end, because a receipt counts only if what
// it is about has been left alone for some moments.
func (in *Installer) rememberPlaced(ctx context.Context, outcomes []Outcome) {
	var placed []receipt.Pending
	for _, o := range outcomes {
		if o.Err == nil && len(o.placed.Receipt.Record.Entries) > 0 {
			placed = append(placed, o.placed)
		}
	}
	if len(placed) > 0 {
		in.targetShelf().Record(ctx, placed...)
		rememberArchives(ctx, in.Fetcher, outcomes)
	}
}

// describe asks where the packages are. This is one short request for each,
// and all of them are done before the first archive is asked for, so that the
// order of fetching can be chosen.
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

// fetch acquires the packages, many at once. All of them may wait in the
// queues for a download and for an unpacker, which keep the order of tasks.
func (in *Installer) fetch(ctx context.Context, tasks []fetcher.Request) []Outcome {
	if len(tasks) == 0 {
		return nil
	}
	defer in.prepare(in.Target.Dir)()
	if in.Cache != nil {
		scratch.Sweep(in.Cache.Dir, in.Fetcher.Time())
		download.SweepPartials(in.partials(), in.Fetcher.Time())
	}
	outcomes, errs := resolve.Map(ctx, in.Fetcher.Emit, in.Fetcher.Limits.WithDefaults().Queries, tasks, in.acquire)
	for i, err := range errs {
		if err != nil {
			outcomes[i] = failedOutcome(tasks[i].Selection, err)
		}
	}
	return outcomes
}

// prepare makes a directory that packages are going to be put into, and clears
// it of what killed processes left. done removes it if nothing came of that.
func (in *Installer) prepare(dir string) (done func()) {
	made, _ := scratch.MakeDirs(dir) // an error comes up again where each package is written
	scratch.Sweep(dir, in.Fetcher.Time())
	return func() { scratch.RemoveEmpty(made) }
}

// largestFirst puts first what will take longest, so that the last core to
// have work has it for as short as possible. Nothing but a receipt tells the
// size of an archive behind a URL before it is asked for; the network is slow,
// so those of which nothing is known are first, in the order of providers.
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
