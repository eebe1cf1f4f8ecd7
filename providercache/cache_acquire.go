package providercache

import (
	"context"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/link"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// acquireShared gets a package into the cache, and from there into its place.
// Of all processes that want the same package at the same time one fetches
// it, as far as locks work; the others find it when it is their turn. Where
// nothing can be put into the cache, or not all of it, the package is this
// directory's own.
func (in *Installer) acquireShared(ctx context.Context, t fetcher.Request) (Outcome, error) {
	unlock, err := in.Cache.LockPackage(ctx, in.packageName(t.Selection))
	if err != nil {
		return Outcome{}, t.Failed(resolve.StepFetch, err)
	}
	defer unlock()
	if found, ok := in.arrived(ctx, t); ok {
		of := func(resolve.Selection) receipt.Provenance { return found }
		if linked, _ := in.linkAll(ctx, []resolve.Selection{t.Selection}, of, in.cacheShelf(), in.ladder()); len(linked) > 0 {
			return linked[0], nil
		}
	}
	stage, err := staging.New(in.Cache.Dir)
	if err != nil {
		return in.acquireOwn(ctx, t)
	}
	defer stage.Remove()
	in.Fetcher.Emit(ctx, fetchBegun(t))
	got, err := in.Fetcher.Obtain(ctx, t, stage)
	if resolve.IsFull(err) { // which Target's disk needn't be
		stage.Remove()
		t.Partials = ""
		return in.fetchOwn(ctx, t)
	}
	if err != nil {
		return Outcome{}, err
	}
	_ = os.Remove(stage.ArchivePath()) // a copy may need the room
	outcome, err := in.handOut(ctx, t.Selection, stage, got)
	if err != nil {
		return Outcome{}, t.Failed(resolve.StepPublish, err)
	}
	in.Fetcher.Emit(ctx, fetchDone(t, outcome))
	return outcome, nil
}

// arrived looks for the package once more: another process may have fetched it
// in the meantime.
func (in *Installer) arrived(ctx context.Context, t fetcher.Request) (receipt.Provenance, bool) {
	l := looker{in: in, shared: in.cacheShelf()}
	found, read, err := l.prove(ctx, t, l.shared)
	l.shared.Record(ctx, read...)
	return found, err == nil && in.accepts(ctx, t, found)
}

// handOut publishes a package in the cache and puts it into Target from there.
// If the cache has another package that has to stay, or can't be written to,
// Target gets the new one for itself.
func (in *Installer) handOut(ctx context.Context, s resolve.Selection, stage *staging.Stage, got receipt.Provenance) (Outcome, error) {
	at := in.cacheShelf()
	shared, err := in.publishShared(ctx, s, stage, got, at)
	switch {
	case ctx.Err() != nil:
		return Outcome{}, context.Cause(ctx)
	case err != nil:
		from := stage.PackagePath()
		return in.placeHashed(ctx, s, got, from, at.IsOwn(from), ownLadder)
	}
	outcome, err := in.placeHashed(ctx, s, got, shared.Dir, at.IsOwn(shared.Dir), in.ladder())
	shared.Linked = outcome.Link == link.Hardlink
	at.Record(ctx, shared)
	return outcome, err
}

// publishShared publishes a package in the cache, or finds there that it has
// been. What is returned is to be settled. With an error the package is still in
// the stage.
func (in *Installer) publishShared(ctx context.Context, s resolve.Selection, stage *staging.Stage, got receipt.Provenance, at store.View) (receipt.Pending, error) {
	shared := receipt.Pending{Name: in.packageName(s), Dir: in.cachePath(s), Receipt: got.Receipt(receipt.StatRecord{})}
	shared.Receipt.Record, _ = receipt.TakeRecord(stage.PackagePath()) // nobody else has touched it
	promised := at.Announce(ctx, shared)
	adopted, err := stage.Offer(ctx, shared.Dir, got.H1, func(there getproviders.Hash) bool {
		receipt, known := at.Find(shared.Name)
		return known && receipt.H1 != there && !promised
	})
	if adopted && err == nil { // it has the hash, but of its status nothing is known
		var h1 getproviders.Hash
		if h1, shared.Receipt.Record, err = in.read(ctx, s, at); err == nil && h1 != got.H1 {
			err = errChanged
		}
	}
	if err != nil && promised {
		at.Retract(ctx, shared.Name)
	}
	return shared, err
}
