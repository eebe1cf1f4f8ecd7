package fetch

import (
	"context"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
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

// date finds out when a version was released, as [resolve.Resolver] has it.
func (f *Fetcher) date(ctx context.Context, s getproviders.Selection) (c getproviders.Candidate, known bool, err error) {
	pkg, err := f.Source.Package(ctx, s.Provider, s.Version, f.Platform)
	if err != nil {
		return c, false, err
	}
	c = f.listed(s)
	c.Released, err = f.released(ctx, pkg)
	return c, !c.Released.IsZero(), err
}

// signer finds out who signed a version's archive, as [resolve.Resolver] has it: by what the source and the signed documents say.
func (f *Fetcher) signer(ctx context.Context, s getproviders.Selection) (c getproviders.Candidate, known bool, err error) {
	pkg, err := f.Source.Package(ctx, s.Provider, s.Version, f.Platform)
	if err != nil {
		return c, false, err
	}
	trust, err := f.loadTrust(ctx, Request{Selection: s, Package: pkg})
	sum, ok := ExpectedBy(trust)
	if err != nil || !ok || trust.Authenticator == nil {
		return c, false, err
	}
	c = f.listed(s)
	c.Authentication, err = trust.Authenticator.Authenticate(getproviders.Digests{SHA256: sum})
	return c, err == nil, err
}

func (f *Fetcher) listed(s getproviders.Selection) getproviders.Candidate {
	return getproviders.Candidate{Provider: s.Provider, Version: s.Version, Platform: f.Platform, State: getproviders.StateListed}
}

// released asks when an archive was changed last, by its first byte. Where the server doesn't say, it is when this machine
// asked first; zero: that isn't known.
func (f *Fetcher) released(ctx context.Context, pkg getproviders.Package) (modified time.Time, err error) {
	_, modified, err = download.Ask(ctx, f.Client, pkg.Location)
	got := receipt.Provenance{}
	if sum := pkg.Trust.ExpectedSHA256; sum != [32]byte{} {
		got.ZH = getproviders.ZH(sum)
	}
	if err != nil || modified.IsZero() && got.Hash() == "" {
		return time.Time{}, err
	}
	return f.dated(ctx, got, modified).Released, nil
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
	if c.Released.IsZero() && state == getproviders.StateKnown && f.Choice.Dated != nil { // it isn't going to be read
		c.Released, _ = f.released(ctx, t.Package) // a rule refuses what has no time
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
