package fetch

import (
	"context"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// dated says of a package that was just fetched when it was released, as far as the time says
// at which it was modified. In the future that says nothing: then it is when this machine fetched
// the package first. A package that the Policy refuses for its age leaves no receipt, so
// this time is recorded beside them.
func (f *Fetcher) dated(ctx context.Context, got receipt.Provenance, modified time.Time) receipt.Provenance {
	got.Released = modified
	if now := f.Now(); modified.IsZero() || modified.After(now) {
		if got.Released = f.firstFetch(got); got.Released.IsZero() {
			got.Released = now
			f.recordFirstFetch(ctx, got)
		}
	}
	return got
}

// firstFetch is when this machine fetched a package first that a Policy was asked about; zero: not known.
func (f *Fetcher) firstFetch(got receipt.Provenance) time.Time {
	if f.Policy == nil || f.StateDir == "" {
		return time.Time{}
	}
	return receipt.OpenContents(f.StateDir).FirstFetch(got.Hash())
}

// recordFirstFetch keeps the time for [Fetcher.firstFetch]. Where that can't be done, each time is the first.
func (f *Fetcher) recordFirstFetch(ctx context.Context, got receipt.Provenance) {
	if f.Policy == nil || f.StateDir == "" {
		return
	}
	contents := receipt.OpenContents(f.StateDir)
	contents.RememberFirstFetch(got.Hash(), got.Released)
	_ = contents.Save(ctx)
}

// Approve asks the Policy about a package. The error is a *getproviders.Fault that
// matches ErrRefused. For the packages above this one: got has an internal type.
func (f *Fetcher) Approve(ctx context.Context, t Request, state getproviders.CandidateState, got receipt.Provenance) error {
	if f.Policy == nil {
		return nil
	}
	c := getproviders.Candidate{
		Provider: t.Provider, Version: t.Version, Platform: t.Package.Platform, State: state,
		Source: t.Package.Source, SourceURL: t.Package.SourceURL, FromRegistry: t.Package.FromRegistry, Authentication: got.Authentication,
		Released: got.Released,
	}
	if c.Released.IsZero() {
		c.Released = f.firstFetch(got)
	}
	if c.Platform == (getproviders.Platform{}) {
		c.Platform = f.Platform
	}
	if state == getproviders.StateFetched && t.Package.Location != nil {
		c.Location = t.Package.Location.String()
	}
	if c.SourceURL == "" {
		c.SourceURL, c.FromRegistry = got.Origin, got.FromRegistry
	}
	c.Hashes = slices.DeleteFunc([]getproviders.Hash{got.H1, got.ZH}, func(h getproviders.Hash) bool { return h == "" })
	if reason := f.Policy(ctx, c); reason != nil {
		return t.Failed(during.Policy, cause.Refused(c, reason))
	}
	return nil
}
