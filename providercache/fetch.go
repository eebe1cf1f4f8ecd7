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

// getter downloads, verifies and unpacks a package into a stage.
type getter func(ctx context.Context, t fetch.Request, stage *staging.Stage) (receipt.Provenance, error)

// fetchOne fetches one package into the first of the step's stores that takes it: the cache, from where it is linked
// into Target, or Target itself. If several processes want the same package in the cache, one fetches it, while the
// others wait for the package's file lock and then find it; where file locks don't work, each fetches it.
func (in *Installer) fetchOne(ctx context.Context, s *step, get getter) error {
	if s.into[0] == in.Cache {
		unlock, err := store.LockPackage(ctx, in.Cache, in.packageName(s.Selection))
		if err != nil {
			return s.Failed(during.Fetch, err)
		}
		defer unlock()
		if ended, err := in.takeFromCache(ctx, s); ended {
			return err
		}
	}
	stage, got, err := in.stage(ctx, s, get)
	if err != nil {
		return err
	}
	defer stage.Remove()
	got.Warnings = s.warnings
	o, err := in.publish(ctx, s, stage, got)
	if err != nil {
		return s.Failed(during.Publish, err)
	}
	o.Source = s.Package.Source
	s.outcome = o
	in.fetcher().Emit(ctx, event.Event{Kind: event.Done, Outcome: o.Outcome, Skipped: s.Package.Skipped})
	return nil
}

// takeFromCache ends a step whose package is in the cache, because another process may have fetched it meanwhile.
func (in *Installer) takeFromCache(ctx context.Context, s *step) (ended bool, err error) {
	state := getproviders.StateCached
	if s.todo == caching {
		state = getproviders.StatePresent
	}
	found, err := in.findInCache(ctx, s.Request, state)
	switch {
	case err != nil || found == nil:
		return err != nil, err
	case s.todo == caching:
		s.outcome = outcome{Outcome: Outcome{Selection: s.Selection, State: event.Present}, receipt: receipt.Pending{Receipt: found.Receipt(receipt.StatRecord{})}}
		in.fetcher().Emit(ctx, event.Event{Kind: event.Done, Outcome: s.outcome.Outcome})
		return true, nil
	}
	s.local.Cached = found
	in.linkMany(ctx, steps{s}, in.cacheView(), in.linkModes(s.Selection), linker.locked)
	return s.todo == nothing, nil
}

// findInCache identifies the package in the cache, or returns nil if it may not be used. The error is the policy's refusal.
func (in *Installer) findInCache(ctx context.Context, t fetch.Request, state getproviders.CandidateState) (*receipt.Provenance, error) {
	at := in.cacheView()
	i := inspector{in: in, cache: func() store.View { return at }}
	found, due, err := i.identify(ctx, t, at)
	at.Record(ctx, due...)
	if err != nil || !in.isAcceptable(ctx, t, found) {
		return nil, nil
	}
	return &found, in.fetcher().Approve(ctx, t, state, found)
}

// stage makes a package in the first of the step's stores that is writable and has room, because
// Target may be on another disk than a full cache. It removes the earlier stores from the step.
func (in *Installer) stage(ctx context.Context, s *step, get getter) (stage *staging.Stage, got receipt.Provenance, err error) {
	for begun := false; ; s.into, s.Partials = s.into[1:], "" {
		last := len(s.into) == 1
		if stage, err = staging.New(s.into[0].Dir); err != nil {
			if last {
				return nil, got, s.Failed(during.Publish, err)
			}
			continue
		}
		if !begun {
			in.fetcher().Emit(ctx, event.Event{Kind: event.Fetching, Outcome: Outcome{Selection: s.Selection, Source: s.Package.Source}, Package: s.Package})
			begun = true
		}
		if got, err = get(ctx, s.Request, stage); err == nil {
			return stage, got, nil
		}
		if stage.Remove(); last || !disk.IsFull(err) {
			return nil, got, err
		}
	}
}

// publish publishes a staged package in its store, and links it from the cache into Target. If the cache
// can't be written to, or has another package that has to stay, Target gets a package of its own.
func (in *Installer) publish(ctx context.Context, s *step, stage *staging.Stage, got receipt.Provenance) (o outcome, err error) {
	stage.PutTimesBack(in.fetcher().Now())
	if s.into[0] == in.Target {
		return in.publishInTarget(ctx, s.Selection, got, stage)
	}
	_ = patient.Remove(stage.ArchivePath()) // makes room for a copy
	at := in.cacheView()
	shared, unshared := in.publishInCache(ctx, s.Selection, stage, got, at)
	switch {
	case ctx.Err() != nil:
		return o, context.Cause(ctx)
	case s.todo == caching:
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

// publishInCache publishes a package in the cache, or adopts an equal one that is there already. It
// returns the receipt, which the caller records. If it fails, the package is still in the stage.
//
// Another package stays if it is as its receipt records it: other directories may have it in their lock files. What has
// no receipt, or isn't what the receipt records, is replaced, as Terraform does: left there, it would have each new
// directory download the package again.
func (in *Installer) publishInCache(ctx context.Context, s getproviders.Selection, stage *staging.Stage, got receipt.Provenance, at store.View) (receipt.Pending, error) {
	shared := receipt.Pending{Name: in.packageName(s), Dir: in.cachePath(s), Receipt: got.Receipt(receipt.StatRecord{})}
	record, err := got.CompleteRecord(stage.PackagePath())
	if err != nil {
		return shared, err
	}
	shared.Receipt.Record = record
	announced := at.Announce(ctx, shared)
	adopted, err := stage.Offer(ctx, shared.Dir, got.H1, func(there getproviders.Hash) bool {
		receipt, known := at.Find(shared.Name)
		intact := known && receipt.H1 == there
		return !intact && !announced
	})
	if adopted && err == nil {
		shared.Receipt.Record, err = in.recordAdopted(ctx, s, at, got.H1)
	}
	if err != nil && announced {
		at.Retract(ctx, shared.Name)
	}
	return shared, err
}

// recordAdopted returns the record of a package that was found to be the staged one: its hash is right, but the stat of its
// files isn't known. The package is hashed again, because it may have changed since.
func (in *Installer) recordAdopted(ctx context.Context, s getproviders.Selection, at store.View, h1 getproviders.Hash) (receipt.StatRecord, error) {
	found, record, err := in.hashPackage(ctx, s, at)
	if err == nil && found != h1 {
		err = errChanged
	}
	return record, err
}
