package providercache

import (
	"context"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/link"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// link puts packages of the cache into Target. Those with which that doesn't
// work, because they have gone meanwhile, say, are left to be fetched.
func (in *Installer) link(ctx context.Context, selections []resolve.Selection, local map[getproviders.Provider]sighting) (linked []Outcome, rest []resolve.Selection) {
	if len(selections) == 0 {
		return nil, nil
	}
	defer in.prepare(in.Target.Dir)()
	scratch.Sweep(in.Cache.Dir, in.Fetcher.Time())
	ladder := in.ladder()
	free := slices.Index(ladder, link.Hardlink)
	if free < 0 {
		return in.linkEach(ctx, selections, local, ladder)
	}
	if free > 0 { // where one can't be cloned, none can: to try once is enough
		if linked, _ = in.linkEach(ctx, selections[:1], local, ladder[:free]); len(linked) > 0 {
			more, left := in.linkEach(ctx, selections[1:], local, ladder[:free])
			linked, selections = append(linked, more...), left
		}
	}
	more, rest := in.linkLocked(ctx, selections, local, ladder[free:])
	return append(linked, more...), rest
}

// linkEach links or copies packages that others may exchange meanwhile.
func (in *Installer) linkEach(ctx context.Context, selections []resolve.Selection, local map[getproviders.Provider]sighting, ladder []link.Mode) (linked []Outcome, rest []resolve.Selection) {
	at := in.cacheShelf()
	outcomes, errs := par.Map(ctx, in.Fetcher.Limits.WithDefaults().Queries, selections, func(ctx context.Context, s resolve.Selection) (Outcome, error) {
		return in.linkFree(ctx, s, *local[s.Provider].Cached, at, ladder)
	})
	return succeeded(selections, outcomes, errs)
}

// linkLocked is for hard links. They change the status of files, by which
// receipts know them, so that these have to be looked at before and renewed
// after, with nobody else between. That is done for many at once, because
// receipts need a moment to settle.
func (in *Installer) linkLocked(ctx context.Context, selections []resolve.Selection, local map[getproviders.Provider]sighting, ladder []link.Mode) (linked []Outcome, rest []resolve.Selection) {
	left := in.Cache.EachLocked(ctx, in.packageNames(selections), func(held []int) {
		at, these := in.cacheShelf(), chosen(selections, held)
		found := func(s resolve.Selection) receipt.Provenance { return *local[s.Provider].Cached }
		good, bad := in.linkAll(ctx, these, found, at, ladder)
		linked, rest = append(linked, good...), append(rest, bad...)
	})
	return linked, append(rest, chosen(selections, left)...)
}

// linkAll links packages whose locks are held, and renews their receipts.
func (in *Installer) linkAll(ctx context.Context, selections []resolve.Selection, found func(resolve.Selection) receipt.Provenance, at store.View, ladder []link.Mode) (linked []Outcome, rest []resolve.Selection) {
	type attempt struct {
		outcome Outcome
		shared  []receipt.Pending // of the cache, whose status has changed; also if it has failed in the end
	}
	attempts, errs := par.Map(ctx, in.Fetcher.Limits.WithDefaults().Queries, selections, func(ctx context.Context, s resolve.Selection) (a attempt, err error) {
		a.outcome, a.shared, err = in.linkGuarded(ctx, s, found(s), at, ladder)
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

// chosen returns the items at some places.
func chosen[T any](items []T, places []int) []T {
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

// ladder is the order in which ways of linking are tried. Into a cache that the
// user shares with the real tools, a link to the package, as they make it; from
// one of our own, what leaves files in Target that nobody else can take away.
func (in *Installer) ladder() []link.Mode {
	switch {
	case in.Link != link.Auto:
		return []link.Mode{in.Link, link.Copy}
	case in.Cache.Shared:
		return []link.Mode{link.Symlink, link.Copy}
	default:
		return []link.Mode{link.Clone, link.Hardlink, link.Copy}
	}
}

// linkFree links or copies a package that others may exchange meanwhile.
func (in *Installer) linkFree(ctx context.Context, s resolve.Selection, found receipt.Provenance, at store.View, ladder []link.Mode) (Outcome, error) {
	own := at.IsOwn(in.cachePath(s))
	outcome, err := in.place(ctx, s, found, in.cachePath(s), ladder, func(used link.Mode, staged string) error {
		switch {
		case used == link.Symlink:
			return in.isCached(s)
		case !own:
			return asHashed(ctx, staged, found.H1)
		}
		_, err := in.witness(ctx, s, found, at)
		return err
	})
	return in.linked(ctx, outcome, err)
}

// linkGuarded links a package whose lock is held. shared is the package in the
// cache, if that needs a receipt again; where others can write, none counts.
func (in *Installer) linkGuarded(ctx context.Context, s resolve.Selection, found receipt.Provenance, at store.View, ladder []link.Mode) (o Outcome, shared []receipt.Pending, err error) {
	own, before := at.IsOwn(in.cachePath(s)), receipt.Receipt{}
	if own {
		if before, err = in.witness(ctx, s, found, at); err != nil {
			return Outcome{}, nil, err
		}
	}
	outcome, err := in.placeHashed(ctx, s, found, in.cachePath(s), own, ladder)
	if own && outcome.Link == link.Hardlink {
		shared = append(shared, receipt.Pending{Name: in.packageName(s), Dir: in.cachePath(s), Receipt: before, Linked: true})
	}
	o, err = in.linked(ctx, outcome, err)
	return o, shared, err
}

// placeHashed puts a package into Target that was hashed where it is. Unless that
// is the user's own, others can have exchanged it since, so what has been staged
// is hashed again. Of a link to the package that would say nothing: what it leads
// to can be exchanged after it, too.
func (in *Installer) placeHashed(ctx context.Context, s resolve.Selection, got receipt.Provenance, from string, own bool, ladder []link.Mode) (Outcome, error) {
	return in.place(ctx, s, got, from, ladder, func(used link.Mode, staged string) error {
		if own || used == link.Symlink {
			return nil
		}
		return asHashed(ctx, staged, got.H1)
	})
}

// asHashed hashes a package where nobody else can touch it.
func asHashed(ctx context.Context, staged string, want getproviders.Hash) error {
	h1, err := getproviders.HashDir(ctx, staged)
	if err == nil && h1 != want {
		err = errChanged
	}
	return err
}

// witness makes sure that a package of the cache still is what it was found to
// be, and returns the receipt that shows it. Where the status of files proves
// nothing, what was found a moment ago has to do.
func (in *Installer) witness(ctx context.Context, s resolve.Selection, found receipt.Provenance, at store.View) (receipt.Receipt, error) {
	if receipt, ok := at.Known(in.packageName(s)); ok && receipt.H1 == found.H1 {
		return receipt, nil
	}
	if _, err := receipt.TakeRecord(in.cachePath(s)); in.Fetcher.EffectiveStateDir() == "" || err != nil {
		return found.Receipt(receipt.StatRecord{}), nil
	}
	h1, record, err := in.read(ctx, s, at)
	if err == nil && h1 != found.H1 {
		err = errChanged
	}
	return found.Receipt(record), err
}

// linked tells the observer, if it is so, that a package of the cache was put
// into Target.
func (in *Installer) linked(ctx context.Context, o Outcome, err error) (Outcome, error) {
	if err != nil {
		return Outcome{}, err
	}
	o.FromCache = true
	in.Fetcher.Emit(ctx, event.LinkedEvent{
		Addr: o.Selection.Provider, Version: o.Selection.Version, Dir: o.placed.Dir, Cache: in.Cache.Dir,
		Link: o.Link, Reason: o.LinkReason, Authentication: o.Authentication,
	})
	return o, nil
}

// isCached is asked when a link to a package has been made, before it is used.
func (in *Installer) isCached(s resolve.Selection) error {
	_, err := os.Stat(in.cachePath(s))
	return err
}
