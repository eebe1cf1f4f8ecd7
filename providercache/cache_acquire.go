package providercache

import (
	"context"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/link"
)

// acquireShared gets a package into the cache, and from there into its place.
// Of all processes that want the same package at the same time one fetches
// it, as far as locks work; the others find it when it is their turn. Where
// nothing can be put into the cache, or not all of it, the package is this
// directory's own.
func (in *Installer) acquireShared(ctx context.Context, t task) (Outcome, error) {
	unlock, err := in.Cache.lockPackage(ctx, in.packageName(t.Selection))
	if err != nil {
		return Outcome{}, t.failed(StepFetch, err)
	}
	defer unlock()
	if found, ok := in.arrived(ctx, t); ok {
		of := func(Selection) genuine { return found }
		if linked, _ := in.linkAll(ctx, []Selection{t.Selection}, of, in.cacheShelf(), in.ladder()); len(linked) > 0 {
			return linked[0], nil
		}
	}
	stage, err := staging.New(in.Cache.Dir)
	if err != nil {
		return in.acquireOwn(ctx, t)
	}
	defer stage.Remove()
	in.Fetcher.emit(ctx, t.begun())
	got, err := in.Fetcher.obtain(ctx, t, stage)
	if isFull(err) { // which Target's disk needn't be
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
		return Outcome{}, t.failed(StepPublish, err)
	}
	in.Fetcher.emit(ctx, t.done(outcome))
	return outcome, nil
}

// arrived looks for the package once more: another process may have fetched it
// in the meantime.
func (in *Installer) arrived(ctx context.Context, t task) (genuine, bool) {
	l := looker{in: in, shared: in.cacheShelf()}
	found, read, err := l.prove(ctx, t, l.shared)
	l.shared.settle(ctx, read...)
	return found, err == nil && in.accepts(ctx, t, found)
}

// handOut publishes a package in the cache and puts it into Target from there.
// If the cache has another package that has to stay, or can't be written to,
// Target gets the new one for itself.
func (in *Installer) handOut(ctx context.Context, s Selection, stage *staging.Stage, got genuine) (Outcome, error) {
	at := in.cacheShelf()
	shared, err := in.publishShared(ctx, s, stage, got, at)
	switch {
	case ctx.Err() != nil:
		return Outcome{}, context.Cause(ctx)
	case err != nil:
		from := stage.PackagePath()
		return in.placeHashed(ctx, s, got, from, at.isOwn(from), ownLadder)
	}
	outcome, err := in.placeHashed(ctx, s, got, shared.Dir, at.isOwn(shared.Dir), in.ladder())
	shared.Linked = outcome.Link == link.Hardlink
	at.settle(ctx, shared)
	return outcome, err
}

// publishShared publishes a package in the cache, or finds there that it has
// been. What is returned is to be settled. With an error the package is still in
// the stage.
func (in *Installer) publishShared(ctx context.Context, s Selection, stage *staging.Stage, got genuine, at shelf) (published, error) {
	shared := published{Name: in.packageName(s), Dir: in.cachePath(s), Receipt: got.receipt(statRecord{})}
	shared.Receipt.Record, _ = takeRecord(stage.PackagePath()) // nobody else has touched it
	promised := at.promise(ctx, shared)
	adopted, err := stage.Offer(ctx, shared.Dir, got.H1, func(there getproviders.Hash) bool {
		receipt, known := at.find(shared.Name)
		return known && receipt.H1 != there && !promised
	})
	if adopted && err == nil { // it has the hash, but of its status nothing is known
		var h1 getproviders.Hash
		if h1, shared.Receipt.Record, err = in.read(ctx, s, at); err == nil && h1 != got.H1 {
			err = errChanged
		}
	}
	if err != nil && promised {
		at.retract(ctx, shared.Name)
	}
	return shared, err
}
