package providercache

import (
	"context"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// KnownPackages returns what receipts record about packages of a provider for the Platform, in
// Target and in the Cache, including packages that are gone; the same version may come twice. It
// reads no package, writes nothing and needs no Source. See [getproviders.Offline].
func (in *Installer) KnownPackages(p getproviders.Provider) (all []getproviders.CachedPackage) {
	for _, at := range []store.View{in.cacheView(), in.targetView()} {
		all = append(all, at.KnownPackages(p, in.fetcher().Platform)...)
	}
	return all
}

// recordDue writes receipts for packages that the inspection hashed, and renews
// those of packages whose ctimes have changed. It doesn't renew those of
// packages to be hard-linked, because that changes the ctimes again.
func (in *Installer) recordDue(ctx context.Context, all steps) {
	var inTarget, inCache []receipt.Pending
	renews := in.Cache != nil && !slices.Contains(in.linkModes(all.to(linking).selections()...), link.Hardlink)
	for _, s := range all.to(keep, linking, fetching) {
		for _, p := range s.local.Due {
			switch {
			case p.Linked && s.todo == linking && !renews:
			case p.Shared:
				inCache = append(inCache, p)
			default:
				inTarget = append(inTarget, p)
			}
		}
	}
	if len(inTarget) > 0 {
		recordIn(ctx, in.targetView(), inTarget)
	}
	if len(inCache) > 0 {
		in.recordInCache(ctx, inCache)
	}
}

// recordInCache writes receipts for packages of the cache that were
// hashed, or whose ctimes have changed. Another process that linked the
// files may have renewed a receipt since: the newer receipt stays.
func (in *Installer) recordInCache(ctx context.Context, due []receipt.Pending) {
	store.EachLocked(ctx, in.Cache, due, func(p receipt.Pending) string { return p.Name }, func(held []receipt.Pending) {
		at := in.cacheView()
		recordIn(ctx, at, slices.DeleteFunc(held, func(p receipt.Pending) bool {
			there, known := at.Known(p.Name)
			return known && !there.Moved()
		}))
	})
}

// recordIn writes receipts for packages that the inspection has hashed. A package that has lost execute permissions
// gets them again; then its old receipt is the right one, and stays.
func recordIn(ctx context.Context, at store.View, due []receipt.Pending) {
	for _, p := range due {
		if before, known := at.Find(p.Name); known {
			before.MakeExecutable(p.Dir)
		}
	}
	at.Record(ctx, due...)
}

// recordPublished writes receipts for packages that were put into Target. It does so for
// all of them at the end, because a receipt counts only if the files hadn't changed for a
// moment when it was made. It also records the h1 for the checksum of each package's
// archive, so that a lock file for this platform needs no second download.
func (in *Installer) recordPublished(ctx context.Context, all steps) {
	var placed []receipt.Pending
	for _, s := range all {
		if o := s.outcome; o.Err == nil && len(o.receipt.Receipt.Record.Entries) > 0 {
			placed = append(placed, o.receipt)
		}
	}
	if len(placed) == 0 {
		return
	}
	in.targetView().Record(ctx, placed...)

	h1s := map[getproviders.Hash]getproviders.Hash{}
	for _, s := range all {
		if s.outcome.Err == nil {
			h1s[s.outcome.receipt.Receipt.ZH] = s.outcome.H1
		}
	}
	receipt.RememberArchives(ctx, in.fetcher().StateDir, h1s)
}
