package providercache

import (
	"context"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// getter makes a package, with all checks passed, in a stage.
type getter func(ctx context.Context, t fetch.Request, stage *staging.Stage) (receipt.Provenance, error)

// fetchIntoTarget fetches a package for Target alone.
func (in *Installer) fetchIntoTarget(ctx context.Context, s *step, get getter) error {
	in.fetcher().Emit(ctx, fetchingEvent(s.Request))
	return in.fetchAndPublish(ctx, s, get)
}

// fetchAndPublish is fetchIntoTarget without the event that begins it.
func (in *Installer) fetchAndPublish(ctx context.Context, s *step, get getter) error {
	stage, err := staging.New(in.Target.Dir)
	if err != nil {
		return s.Failed(during.Publish, err)
	}
	defer stage.Remove()
	got, err := get(ctx, s.Request, stage)
	if err != nil {
		return err
	}
	stage.PutTimesBack(in.fetcher().Now())
	outcome, err := in.publishInTarget(ctx, s.Selection, got, stage)
	return in.published(ctx, s, outcome, err)
}

// published ends a step whose package was published, unless err says that it wasn't.
func (in *Installer) published(ctx context.Context, s *step, o outcome, err error) error {
	if err != nil {
		return s.Failed(during.Publish, err)
	}
	o.Source = s.Package.Source
	s.outcome = o
	in.fetcher().Emit(ctx, event.Event{Kind: event.Done, Outcome: o.Outcome, Skipped: s.Package.Skipped})
	return nil
}

// fetchingEvent is reported when a package is about to be fetched.
func fetchingEvent(t fetch.Request) event.Event {
	return event.Event{Kind: event.Fetching, Outcome: Outcome{Selection: t.Selection, Source: t.Package.Source}, Location: t.Package.Location}
}

// fetchIntoCache fetches a package into the cache, and links it into Target
// from there, unless the step is for the cache alone. If several processes want the same package at the same time, one
// fetches it and the others wait for the package's file lock and find it then;
// where file locks don't work, each fetches it. If the cache can't be written
// to, or its disk is full, Target gets a package of its own. A package that is unpacked
// already, in a mirror, is linked to where it is; a cache would gain nothing.
func (in *Installer) fetchIntoCache(ctx context.Context, s *step, get getter) error {
	if _, unpacked := s.Package.Location.(getproviders.LocalDirectory); unpacked && !s.cacheOnly {
		return in.fetchIntoTarget(ctx, s, get)
	}
	unlock, err := store.LockPackage(ctx, in.Cache, in.packageName(s.Selection))
	if err != nil {
		return s.Failed(during.Fetch, err)
	}
	defer unlock()
	if ended, err := in.takeFromCache(ctx, s); ended {
		return err
	}
	stage, err := staging.New(in.Cache.Dir)
	switch {
	case err != nil && s.cacheOnly:
		return s.Failed(during.Publish, err)
	case err != nil:
		return in.fetchIntoTarget(ctx, s, get)
	}
	defer stage.Remove()
	in.fetcher().Emit(ctx, fetchingEvent(s.Request))
	got, err := get(ctx, s.Request, stage)
	if disk.IsFull(err) && !s.cacheOnly { // which Target's disk needn't be
		stage.Remove()
		s.Partials = ""
		return in.fetchAndPublish(ctx, s, get)
	}
	if err != nil {
		return err
	}
	_ = patient.Remove(stage.ArchivePath()) // a copy may need the room
	outcome, err := in.publishAndLink(ctx, s, stage, got)
	return in.published(ctx, s, outcome, err)
}

// takeFromCache ends a step whose package is in the cache: another process may have fetched it in the meantime.
func (in *Installer) takeFromCache(ctx context.Context, s *step) (ended bool, err error) {
	found, ok := in.findInCache(ctx, s.Request)
	if !ok {
		return false, nil
	}
	state := getproviders.StateCached
	if s.cacheOnly {
		state = getproviders.StatePresent
	}
	if err := in.fetcher().Approve(ctx, s.Request, state, found); err != nil {
		return true, err
	}
	if s.cacheOnly {
		s.outcome = outcome{Outcome: Outcome{Selection: s.Selection, State: event.Present}, receipt: receipt.Pending{Receipt: found.Receipt(receipt.StatRecord{})}}
		in.fetcher().Emit(ctx, event.Event{Kind: event.Done, Outcome: s.outcome.Outcome})
		return true, nil
	}
	s.local.Cached = &found
	in.linkMany(ctx, steps{s}, in.cacheView(), in.linkModes(s.Selection), linker.locked)
	return s.todo == nothing, nil
}

// findInCache finds out what the cache has of a package. ok: that may be used.
func (in *Installer) findInCache(ctx context.Context, t fetch.Request) (receipt.Provenance, bool) {
	at := in.cacheView()
	i := inspector{in: in, cache: func() store.View { return at }}
	found, due, err := i.identify(ctx, t, at)
	at.Record(ctx, due...)
	return found, err == nil && in.isAcceptable(ctx, t, found)
}

// publishAndLink publishes a package in the cache and links it into Target from
// there. If the cache has another package that has to stay, or can't be written
// to, Target gets the new one for itself.
func (in *Installer) publishAndLink(ctx context.Context, s *step, stage *staging.Stage, got receipt.Provenance) (o outcome, err error) {
	at := in.cacheView()
	shared, unshared := in.publishInCache(ctx, s.Selection, stage, got, at)
	switch {
	case ctx.Err() != nil:
		return o, context.Cause(ctx)
	case s.cacheOnly:
		o = outcome{Outcome: Outcome{Selection: s.Selection, State: event.Fetched, Path: shared.Dir, Authentication: got.Authentication}, receipt: shared}
		err = unshared
	case unshared != nil: // no other Target is going to use it
		return in.linkOne(ctx, s.Selection, got, stage.PackagePath(), at, []link.Mode{link.Hardlink, link.Copy})
	default:
		o, err = in.linkOne(ctx, s.Selection, got, shared.Dir, at, in.linkModes(s.Selection))
		shared.Linked = o.Link == link.Hardlink
	}
	if unshared == nil {
		at.Record(ctx, shared)
	}
	return o, err
}

// publishInCache publishes a package in the cache, or adopts an equal one that
// is there already. The caller records the receipt that it returns. If it
// fails, the package is still in the stage.
func (in *Installer) publishInCache(ctx context.Context, s getproviders.Selection, stage *staging.Stage, got receipt.Provenance, at store.View) (receipt.Pending, error) {
	shared := receipt.Pending{Name: in.packageName(s), Dir: in.cachePath(s), Receipt: got.Receipt(receipt.StatRecord{})}
	stage.PutTimesBack(in.fetcher().Now())
	record, err := got.CompleteRecord(stage.PackagePath())
	if err != nil {
		return shared, err
	}
	shared.Receipt.Record = record
	announced := at.Announce(ctx, shared)
	adopted, err := stage.Offer(ctx, shared.Dir, got.H1, func(there getproviders.Hash) bool {
		receipt, known := at.Find(shared.Name)
		return known && receipt.H1 != there && !announced
	})
	if adopted && err == nil { // it has the hash, but of its status nothing is known
		var h1 getproviders.Hash
		if h1, shared.Receipt.Record, err = in.hashPackage(ctx, s, at); err == nil && h1 != got.H1 {
			err = errChanged
		}
	}
	if err != nil && announced {
		at.Retract(ctx, shared.Name)
	}
	return shared, err
}
