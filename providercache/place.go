package providercache

import (
	"context"
	"errors"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/link"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// errChanged says that a package isn't any more what it was a moment ago.
var errChanged = errors.New("the package in the shared cache has changed meanwhile")

// ownLadder is for packages that are going to be nobody else's.
var ownLadder = []link.Mode{link.Hardlink, link.Copy}

// acquire gets one package and puts it into its place. Packages that are
// unpacked already, in a mirror, are linked to there; a cache would gain
// nothing.
func (in *Installer) acquire(ctx context.Context, t fetcher.Request) (Outcome, error) {
	if _, unpacked := t.Package.Location.(getproviders.LocalDirectory); unpacked || in.Cache == nil {
		return in.acquireOwn(ctx, t)
	}
	return in.acquireShared(ctx, t)
}

// acquireOwn gets a package for Target alone.
func (in *Installer) acquireOwn(ctx context.Context, t fetcher.Request) (Outcome, error) {
	in.Fetcher.Emit(ctx, fetchBegun(t))
	return in.fetchOwn(ctx, t)
}

func (in *Installer) fetchOwn(ctx context.Context, t fetcher.Request) (Outcome, error) {
	stage, err := staging.New(in.Target.Dir)
	if err != nil {
		return Outcome{}, t.Failed(resolve.StepPublish, err)
	}
	defer stage.Remove()
	got, err := in.Fetcher.Obtain(ctx, t, stage)
	if err != nil {
		return Outcome{}, err
	}
	outcome, err := in.publishTo(ctx, t.Selection, got, stage)
	if err != nil {
		return Outcome{}, t.Failed(resolve.StepPublish, err)
	}
	in.Fetcher.Emit(ctx, fetchDone(t, outcome))
	return outcome, nil
}

// begun and done are the events of a package that is fetched.
func fetchBegun(t fetcher.Request) event.FetchingEvent {
	return event.FetchingEvent{Addr: t.Provider, Version: t.Version, Location: t.Package.Location, Source: t.Package.Source}
}

func fetchDone(t fetcher.Request, o Outcome) event.FetchedEvent {
	return event.FetchedEvent{
		Addr: t.Provider, Version: t.Version, Dir: o.placed.Dir, Authentication: o.Authentication,
		Source: t.Package.Source, Skipped: t.Package.Skipped, Link: o.Link, Reason: o.LinkReason,
	}
}

// place puts a package into Target from where it is on this machine. intact is
// asked, when that is done but for the publishing, if what is staged may be used.
func (in *Installer) place(ctx context.Context, s resolve.Selection, got receipt.Provenance, from string, ladder []link.Mode, intact func(used link.Mode, staged string) error) (Outcome, error) {
	stage, err := staging.New(in.Target.Dir)
	if err != nil {
		return Outcome{}, err
	}
	defer stage.Remove()
	used, reason, err := link.Tree(ctx, from, stage.PackagePath(), ladder)
	if err == nil {
		err = intact(used, stage.PackagePath())
	}
	if err != nil {
		return Outcome{}, err
	}
	outcome, err := in.publishTo(ctx, s, got, stage)
	outcome.Link, outcome.LinkReason = used, reason
	return outcome, err
}

// publishTo moves a package from its stage into Target.
func (in *Installer) publishTo(ctx context.Context, s resolve.Selection, got receipt.Provenance, stage *staging.Stage) (Outcome, error) {
	record, _ := receipt.TakeRecord(stage.PackagePath()) // nobody else has touched it
	dir := in.packagePath(s.Provider, s.Version)
	return Outcome{
		Selection: s, Authentication: got.Authentication, H1: got.H1, Told: in.Fetcher.HashPolicy.Believed(got.Told),
		placed: receipt.Pending{Name: in.packageName(s), Dir: dir, Receipt: got.Receipt(record)},
	}, stage.Publish(ctx, dir, got.H1)
}
