package providercache

import (
	"context"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// KnownPackages returns what receipts say about packages of a provider for the
// Platform, in Target and in the Cache, whether they are still there or not;
// the same version may come twice. It reads no package, writes nothing and
// needs no Source. See [getproviders.Offline].
func (in *Installer) KnownPackages(p getproviders.Provider) (all []getproviders.CachedPackage) {
	for _, at := range []store.View{in.cacheView(), in.targetView()} {
		all = append(all, at.KnownPackages(p, in.fetcher().Platform)...)
	}
	return all
}

// recordDue writes receipts for packages that the inspection had to hash, and
// renews those of packages whose ctimes have moved. What is about to be hard-linked
// isn't renewed here: that moves its ctimes again.
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
		in.targetView().Record(ctx, inTarget...)
	}
	if len(inCache) > 0 {
		in.recordInCache(ctx, inCache)
	}
}

// recordInCache writes receipts for packages of the cache that had to be
// hashed, or whose ctimes have moved. Another process that was about to link their
// files may have renewed these receipts since: such a receipt is newer, and stays.
func (in *Installer) recordInCache(ctx context.Context, due []receipt.Pending) {
	store.EachLocked(ctx, in.Cache, due, func(p receipt.Pending) string { return p.Name }, func(held []receipt.Pending) {
		at := in.cacheView()
		at.Record(ctx, slices.DeleteFunc(held, func(p receipt.Pending) bool {
			there, known := at.Known(p.Name)
			return known && !there.Moved()
		})...)
	})
}

// recordPublished writes receipts for packages that were put into Target. It
// does so for all of them at the end, because a receipt counts only if its
// files had been left alone for a moment when they were recorded. The h1 that belongs to
// the checksum of each package's archive is kept, too, so that a lock file for this
// platform needs no second download.
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
	state := in.fetcher().StateDir
	if state == "" {
		return
	}
	known := receipt.OpenContents(state)
	for _, s := range all {
		if zh := s.outcome.receipt.Receipt.ZH; zh != "" && s.outcome.Err == nil {
			known.RememberArchive(zh, s.outcome.H1)
		}
	}
	_ = known.Save(ctx)
}
