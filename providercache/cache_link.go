package providercache

import (
	"context"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// link puts packages of the cache into Target. Those with which that doesn't
// work, because they have gone meanwhile, say, are left to be fetched.
func (in *Installer) link(ctx context.Context, selections []Selection, local map[getproviders.Provider]sighting) (linked []Outcome, rest []Selection) {
	if len(selections) == 0 {
		return nil, nil
	}
	defer in.prepare(in.Target.Path)()
	outcomes, errs := par.Map(ctx, in.Limits.withDefaults().Queries, selections, func(ctx context.Context, s Selection) (Outcome, error) {
		return in.linkCached(ctx, s, *local[s.Provider].Cached)
	})
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
func (in *Installer) ladder() []LinkMode {
	switch {
	case in.Link != LinkAuto:
		return []LinkMode{in.Link, LinkCopy}
	case in.Cache.Named:
		return []LinkMode{LinkSymlink, LinkCopy}
	default:
		return []LinkMode{LinkClone, LinkHardlink, LinkCopy}
	}
}

// linkCached tries first what needs no lock. A hard link does: it changes the
// status of files, by which receipts know them, so that the receipt has to be
// looked at before and renewed after, with nobody else between.
func (in *Installer) linkCached(ctx context.Context, s Selection, found genuine) (Outcome, error) {
	ladder := in.ladder()
	free := slices.Index(ladder, LinkHardlink)
	if free < 0 {
		free = len(ladder)
	}
	if free > 0 {
		outcome, err := in.linkFree(ctx, s, found, ladder[:free])
		if err == nil || free == len(ladder) || ctx.Err() != nil {
			return outcome, err
		}
	}
	unlock, err := in.Cache.lockPackage(ctx, in.packageName(s))
	if err != nil {
		return Outcome{}, err
	}
	defer unlock()
	return in.linkGuarded(ctx, s, found, ladder[free:])
}

// linkFree links or copies a package that others may exchange meanwhile.
func (in *Installer) linkFree(ctx context.Context, s Selection, found genuine, ladder []LinkMode) (Outcome, error) {
	outcome, err := in.place(ctx, s, found, in.cachePath(s), ladder, func(used LinkMode) error {
		if used == LinkSymlink {
			return in.isCached(s)
		}
		_, err := in.witness(ctx, s, found, in.cacheShelf())
		return err
	})
	return in.linked(outcome, err)
}

// linkGuarded links a package whose lock is held.
func (in *Installer) linkGuarded(ctx context.Context, s Selection, found genuine, ladder []LinkMode) (Outcome, error) {
	at := in.cacheShelf()
	before, err := in.witness(ctx, s, found, at)
	if err != nil {
		return Outcome{}, err
	}
	outcome, err := in.place(ctx, s, found, in.cachePath(s), ladder, untouched)
	if outcome.Link == LinkHardlink {
		at.settle(ctx, published{Name: in.packageName(s), Dir: in.cachePath(s), Receipt: before, Linked: true})
	}
	return in.linked(outcome, err)
}

// untouched is for packages that nobody else can have touched.
func untouched(LinkMode) error { return nil }

// witness makes sure that a package of the cache still is what it was found to
// be, and returns the receipt that shows it. Where the status of files proves
// nothing, what was found a moment ago has to do.
func (in *Installer) witness(ctx context.Context, s Selection, found genuine, at shelf) (receipt, error) {
	if receipt, ok := at.genuine(in.packageName(s)); ok && receipt.H1 == found.H1 {
		return receipt, nil
	}
	if _, err := takeRecord(in.cachePath(s)); in.stateDir() == "" || err != nil {
		return found.receipt(statRecord{}), nil
	}
	h1, record, err := in.read(ctx, s, at)
	if err == nil && h1 != found.H1 {
		err = errChanged
	}
	return found.receipt(record), err
}

// linked tells the observer, if it is so, that a package of the cache was put
// into Target.
func (in *Installer) linked(o Outcome, err error) (Outcome, error) {
	if err != nil {
		return Outcome{}, err
	}
	o.FromCache = true
	in.emit(LinkedFromCache{
		Provider: o.Selection.Provider, Version: o.Selection.Version, Dir: o.placed.Dir, Cache: in.Cache.Dir,
		Link: o.Link, Reason: o.LinkReason, Authentication: o.Authentication,
	})
	return o, nil
}
