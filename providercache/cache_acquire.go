package providercache

import (
	"context"
	"errors"
	"os"
	"syscall"

	"github.com/tfdeps/tfdeps/getproviders"
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
	stage, err := in.Cache.dir().stage()
	if err != nil {
		return in.acquireOwn(ctx, t)
	}
	defer stage.remove()
	in.emit(t.begun())
	got, err := in.obtain(ctx, t, stage)
	if isFull(err) { // which Target's disk needn't be
		stage.remove()
		t.Apart = true
		return in.fetchOwn(ctx, t)
	}
	if err != nil {
		return Outcome{}, err
	}
	_ = os.Remove(stage.archivePath()) // a copy may need the room
	outcome, err := in.handOut(ctx, t.Selection, stage, got)
	if err != nil {
		return Outcome{}, t.failed(StepPublish, err)
	}
	in.emit(t.done(outcome))
	return outcome, nil
}

// isFull reports whether an error says that a disk, or the user's share of it,
// is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// arrived looks for the package once more: another process may have fetched it
// in the meantime.
func (in *Installer) arrived(ctx context.Context, t task) (genuine, bool) {
	l := looker{Installer: in, shared: in.cacheShelf()}
	found, read, err := l.prove(ctx, t, l.shared)
	l.shared.settle(ctx, read...)
	return found, err == nil && in.accepts(ctx, t, found)
}

// handOut publishes a package in the cache and puts it into Target from there.
// If the cache has another package that has to stay, or can't be written to,
// Target gets the new one for itself.
func (in *Installer) handOut(ctx context.Context, s Selection, stage *staging, got genuine) (Outcome, error) {
	at, name, final := in.cacheShelf(), in.packageName(s), in.cachePath(s)
	record, _ := takeRecord(stage.packagePath()) // nobody else has touched it
	adopted, err := stage.offer(ctx, final, got.H1, func(there getproviders.Hash) bool {
		receipt, known := at.find(name)
		return known && receipt.H1 != there
	})
	switch {
	case ctx.Err() != nil:
		return Outcome{}, context.Cause(ctx)
	case err != nil:
		return in.place(ctx, s, got, stage.packagePath(), ownLadder, untouched)
	case adopted:
		// It has the hash, but of its status nothing is known.
		h1, before, err := in.read(ctx, s, at)
		if err != nil || h1 != got.H1 {
			return in.place(ctx, s, got, stage.packagePath(), ownLadder, untouched)
		}
		record = before
	}
	outcome, err := in.place(ctx, s, got, final, in.ladder(), untouched)
	at.settle(ctx, published{Name: name, Dir: final, Receipt: got.receipt(record), Linked: outcome.Link == LinkHardlink})
	return outcome, err
}
