package providercache

import (
	"context"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/link"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// link puts packages of the cache into Target. Those that can't be linked,
// because they have been removed meanwhile, for example, are returned in rest
// and have to be fetched.
func (in *Installer) link(ctx context.Context, selections []resolve.Selection, local map[getproviders.Provider]localPackage) (linked []Outcome, rest []resolve.Selection) {
	if len(selections) == 0 {
		return nil, nil
	}
	modes := in.linkModes(selections)
	unlocked := slices.Index(modes, link.Hardlink)
	if unlocked < 0 {
		return in.linkEach(ctx, selections, local, modes)
	}
	if unlocked > 0 && link.MayClone(in.Target.Dir) { // where one can't be cloned, none can: to try once is enough
		if linked, _ = in.linkEach(ctx, selections[:1], local, modes[:unlocked]); len(linked) > 0 {
			more, left := in.linkEach(ctx, selections[1:], local, modes[:unlocked])
			linked, selections = append(linked, more...), left
		}
	}
	more, rest := in.linkLocked(ctx, selections, local, modes[unlocked:])
	return append(linked, more...), rest
}

// linkEach links or copies packages without file locks, so others may exchange
// them meanwhile.
func (in *Installer) linkEach(ctx context.Context, selections []resolve.Selection, local map[getproviders.Provider]localPackage, modes []link.Mode) (linked []Outcome, rest []resolve.Selection) {
	l, err := in.newLinker(in.cacheView(), modes)
	if err != nil {
		return nil, selections
	}
	defer l.stages.Remove()
	outcomes, errs := par.Map(ctx, in.Fetcher.Limits.WithDefaults().Queries, numbered(selections), func(ctx context.Context, job linkJob) (Outcome, error) {
		return l.unlocked(ctx, job, *local[job.Provider].Cached)
	})
	return succeeded(selections, outcomes, errs)
}

// linkLocked makes hard links. These change the ctime of the cache's files, by
// which receipts recognise them, so a receipt is checked before and renewed
// after, while the package's file lock is held. This is done for many packages
// at once, because a receipt counts only some moments after the last change.
func (in *Installer) linkLocked(ctx context.Context, selections []resolve.Selection, local map[getproviders.Provider]localPackage, modes []link.Mode) (linked []Outcome, rest []resolve.Selection) {
	left := in.Cache.EachLocked(ctx, in.packageNames(selections), func(held []int) {
		at, these := in.cacheView(), itemsAt(selections, held)
		found := func(s resolve.Selection) receipt.Provenance { return *local[s.Provider].Cached }
		good, bad := in.linkHeld(ctx, these, found, at, modes)
		linked, rest = append(linked, good...), append(rest, bad...)
	})
	return linked, append(rest, itemsAt(selections, left)...)
}

// linkHeld links packages whose file locks are held, and renews their receipts.
func (in *Installer) linkHeld(ctx context.Context, selections []resolve.Selection, found func(resolve.Selection) receipt.Provenance, at store.View, modes []link.Mode) (linked []Outcome, rest []resolve.Selection) {
	type attempt struct {
		outcome Outcome
		shared  []receipt.Pending // of the cache, whose status has changed; also if it has failed in the end
	}
	l, err := in.newLinker(at, modes)
	if err != nil {
		return nil, selections
	}
	defer l.stages.Remove()
	attempts, errs := par.Map(ctx, in.Fetcher.Limits.WithDefaults().Queries, numbered(selections), func(ctx context.Context, job linkJob) (a attempt, err error) {
		a.outcome, a.shared, err = l.locked(ctx, job, found(job.Selection))
		return a, err
	})
	var outcomes []Outcome
	var shared []receipt.Pending
	for _, a := range attempts {
		outcomes, shared = append(outcomes, a.outcome), append(shared, a.shared...)
	}
	at.Record(ctx, shared...)
	return succeeded(selections, outcomes, errs)
}

// itemsAt returns the items at some indexes.
func itemsAt[T any](items []T, places []int) []T {
	some := make([]T, len(places))
	for i, at := range places {
		some[i] = items[at]
	}
	return some
}

// succeeded returns the outcomes without errors, and those selections that have
// none of them.
func succeeded(selections []resolve.Selection, outcomes []Outcome, errs []error) (linked []Outcome, rest []resolve.Selection) {
	for i, err := range errs {
		if err != nil {
			rest = append(rest, selections[i])
		} else {
			linked = append(linked, outcomes[i])
		}
	}
	return linked, rest
}

// linkModes is the order in which ways of linking packages of the cache are tried.
func (in *Installer) linkModes(selections []resolve.Selection) []link.Mode {
	modes, _ := in.linkOrder(selections)
	return modes
}

// linkOrder is linkModes, and why a symbolic link isn't among them where it would be the first.
func (in *Installer) linkOrder(selections []resolve.Selection) ([]link.Mode, error) {
	var dirs []string
	for _, s := range selections {
		dirs = append(dirs, in.cachePath(s))
	}
	return link.Order(in.Link, in.Cache.Dir, in.Cache.Shared, dirs...)
}
