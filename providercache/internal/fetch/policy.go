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

// dated sets when a fetched package was released: the time at which its archive was modified. If there
// is no such time, or it is in the future, it is when this machine first fetched the package. That time
// is recorded, because a package that the Policy refuses for its age leaves no receipt.
func (f *Fetcher) dated(ctx context.Context, got receipt.Provenance, modified time.Time) receipt.Provenance {
	got.Released = modified
	got.FirstFetched = false
	if now := f.Now(); modified.IsZero() || modified.After(now) {
		got.FirstFetched = true
		if got.Released = f.firstFetch(got); got.Released.IsZero() {
			got.Released = now
			f.recordFirstFetch(ctx, got)
		}
	}
	return got
}

// firstFetch returns when this machine first fetched a package that a Policy was asked about; zero: unknown.
func (f *Fetcher) firstFetch(got receipt.Provenance) time.Time {
	if f.Policy == nil || f.StateDir == "" {
		return time.Time{}
	}
	return receipt.OpenContents(f.StateDir).FirstFetch(got.Hash())
}

// recordFirstFetch records the time for [Fetcher.firstFetch]. Errors are ignored: the next fetch then counts as the first.
func (f *Fetcher) recordFirstFetch(ctx context.Context, got receipt.Provenance) {
	if f.Policy == nil || f.StateDir == "" {
		return
	}
	contents := receipt.OpenContents(f.StateDir)
	contents.RememberFirstFetch(got.Hash(), got.Released)
	_ = contents.Save(ctx)
}

// date is the Date of [resolve.Resolver].
func (f *Fetcher) date(ctx context.Context, s getproviders.Selection) (c getproviders.Candidate, known bool, err error) {
	pkg, err := f.Source.Package(ctx, s.Provider, s.Version, f.Platform)
	if err != nil {
		return c, false, err
	}
	c = f.listed(s)
	c.Released, err = f.released(ctx, pkg)
	return c, !c.Released.IsZero(), err
}

// signer is the Signer of [resolve.Resolver]. It reads the signed documents, and not the archive.
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

// released returns when an archive was last modified, from a request for its first byte.
// If the server doesn't say, it is when this machine first asked; zero: unknown.
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
// matches ErrRefused. Only for packages of this module: got has an internal type.
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
	if c.Released.IsZero() && state == getproviders.StateKnown && f.Choice.Dated != nil { // the package won't be read
		c.Released, _ = f.released(ctx, t.Package) // rules about ages refuse a zero time
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
