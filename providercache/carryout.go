package providercache

import (
	"cmp"
	"context"
	"math"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// task is a package that is going to be fetched.
type task struct {
	Selection
	Package getproviders.Package
	// Recorded are the lock file's hashes for this version, of the schemes
	// that are known; empty: the lock file has nothing to say.
	Recorded []getproviders.Hash
}

// carryOut does what the plan says and returns an outcome for each selection.
func (in *Installer) carryOut(ctx context.Context, plan Plan, locks *depsfile.Locks) []Outcome {
	var outcomes []Outcome
	for _, s := range plan.Present {
		in.emit(AlreadyInstalled{Provider: s.Provider, Version: s.Version})
		outcomes = append(outcomes, Outcome{Selection: s, Present: true})
	}
	tasks, failed := in.describe(ctx, plan.Fetch, locks)
	return slices.Concat(outcomes, failed, in.fetch(ctx, largestFirst(tasks)))
}

// describe asks where the packages are. This is one short request for each,
// and all of them are done before the first archive is asked for, so that the
// order of fetching can be chosen.
func (in *Installer) describe(ctx context.Context, selections []Selection, locks *depsfile.Locks) (tasks []task, failed []Outcome) {
	found, errs := mapTold(ctx, in, in.Limits.withDefaults().Queries, selections, func(ctx context.Context, s Selection) (task, error) {
		pkg, err := in.Source.Package(ctx, s.Provider, s.Version, in.platform())
		if err != nil {
			return task{}, s.failed(StepMetadata, err)
		}
		return task{Selection: s, Package: pkg, Recorded: recorded(locks, s)}, nil
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

// recorded returns the usable hashes that the locks have for a selection.
func recorded(locks *depsfile.Locks, s Selection) []getproviders.Hash {
	lock, ok := locks.Provider(s.Provider)
	if !ok || lock.Version != s.Version {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(lock.Hashes), func(h getproviders.Hash) bool { return !h.Supported() })
}

// fetch acquires the packages, many at once. All of them may wait in the
// queues for a download and for an unpacker, which keep the order of tasks.
func (in *Installer) fetch(ctx context.Context, tasks []task) []Outcome {
	if len(tasks) == 0 {
		return nil
	}
	made, _ := makeDirs(in.Target.Path) // an error comes up again where each task wants to write
	defer removeEmpty(made)
	sweep(in.Target.Path, in.now())
	outcomes, errs := mapTold(ctx, in, in.Limits.withDefaults().Queries, tasks, in.acquire)
	for i, err := range errs {
		if err != nil {
			outcomes[i] = failedOutcome(tasks[i].Selection, err)
		}
	}
	return outcomes
}

// largestFirst puts first what will take longest, so that the last core to
// have work has it for as short as possible. Nothing tells the size of an
// archive behind a URL before it is asked for; the network is slow, so these
// are first, in the order of providers.
func largestFirst(tasks []task) []task {
	return slices.SortedStableFunc(slices.Values(tasks), func(a, b task) int {
		return cmp.Compare(cost(b.Package.Location), cost(a.Package.Location))
	})
}

func cost(at getproviders.Location) int64 {
	switch at := at.(type) {
	case getproviders.HTTPArchive:
		return math.MaxInt64
	case getproviders.LocalArchive:
		if info, err := os.Stat(string(at)); err == nil {
			return info.Size()
		}
	}
	return 0
}
