package fetcher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// Candidate is a package that has passed all checks and is about to be used: put
// into its place, left there, or recorded in a lock file.
type Candidate struct {
	Provider getproviders.Provider
	Version  getproviders.Version
	Platform getproviders.Platform
	State    CandidateState
	// Source is the source that has it, as getproviders.Source.Describe names it, and
	// Location is where it was fetched from, without secrets; "" if State isn't
	// StateFetched. SourceURL is the URL of the registry or mirror that the package comes from,
	// or came from when it was fetched; "" if that isn't known.
	Source, Location, SourceURL string
	// FromRegistry says that this is the provider's own registry.
	FromRegistry bool
	// Hashes are those of the package, as far as they are known: the h1 of its files
	// and the zh of its archive.
	Hashes []getproviders.Hash
	// Authentication says who signed it; of what was fetched by an earlier run, what was
	// found then. It is zero if nothing is known of that.
	Authentication getproviders.AuthenticationResult
	// Released is when the archive was changed last, as its server or the file system says, or,
	// where neither does, when this machine fetched the package first; zero: not known.
	Released time.Time
}

// CandidateState says where a candidate is.
type CandidateState int

const (
	StateFetched CandidateState = iota // in a private directory: it was just fetched; or in an unpacked mirror, where it stays
	StateCached                        // in the shared cache
	StatePresent                       // in the place where it belongs: a target, a mirror, vendored packages
	StateKnown                         // nowhere here: its source lists the hashes, or an earlier run has computed them
)

// String returns "fetched", "cached", "present" or "known".
func (s CandidateState) String() string {
	names := [...]string{"fetched", "cached", "present", "known"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("CandidateState(%d)", int(s))
	}
	return names[s]
}

// ErrRefused matches every *PolicyError.
var ErrRefused = errors.New("a policy refuses the package")

// PolicyError says that the Fetcher's Policy refuses a package, and why. It matches
// ErrRefused and the reason.
type PolicyError struct {
	Candidate Candidate
	Reason    error
}

// Error implements error.
func (e *PolicyError) Error() string { return "refused by policy: " + e.Reason.Error() }

// Code is that of the reason, or "refused_by_policy".
func (e *PolicyError) Code() string {
	if code := getproviders.CodeOf(e.Reason); code != "" {
		return code
	}
	return "refused_by_policy"
}

// Unwrap returns the reason.
func (e *PolicyError) Unwrap() error { return e.Reason }

// Is reports whether target is ErrRefused.
func (e *PolicyError) Is(target error) bool { return target == ErrRefused }

// dated says of a package that was just fetched when it was released, as far as the time says
// at which it was modified. In the future that says nothing: then it is when this machine fetched
// the package first. A package that the Policy refuses for its age leaves no receipt, so
// this time is recorded beside them.
func (f *Fetcher) dated(ctx context.Context, got receipt.Provenance, modified time.Time) receipt.Provenance {
	got.Released = modified
	if now := f.Time(); modified.IsZero() || modified.After(now) {
		if got.Released = f.firstFetch(got); got.Released.IsZero() {
			got.Released = now
			f.recordFirstFetch(ctx, got)
		}
	}
	return got
}

// firstFetch is when this machine fetched a package first that a Policy was asked about; zero: not known.
func (f *Fetcher) firstFetch(got receipt.Provenance) time.Time {
	if f.Policy == nil || f.EffectiveStateDir() == "" {
		return time.Time{}
	}
	return receipt.OpenContents(f.EffectiveStateDir()).FirstFetch(got.Hash())
}

// recordFirstFetch keeps the time for [Fetcher.firstFetch]. Where that can't be done, each time is the first.
func (f *Fetcher) recordFirstFetch(ctx context.Context, got receipt.Provenance) {
	if f.Policy == nil || f.EffectiveStateDir() == "" {
		return
	}
	contents := receipt.OpenContents(f.EffectiveStateDir())
	contents.RememberFirstFetch(got.Hash(), got.Released)
	_ = contents.Save(ctx)
}

// Approve asks the Policy about a package. The error is a *resolve.ProviderError with
// a *PolicyError. For the packages above this one: got has an internal type.
func (f *Fetcher) Approve(ctx context.Context, t Request, state CandidateState, got receipt.Provenance) error {
	if f.Policy == nil {
		return nil
	}
	c := Candidate{
		Provider: t.Provider, Version: t.Version, Platform: t.Package.Platform, State: state,
		Source: t.Package.Source, SourceURL: t.Package.SourceURL, FromRegistry: t.Package.FromRegistry, Authentication: got.Authentication,
		Released: got.Released,
	}
	if c.Released.IsZero() {
		c.Released = f.firstFetch(got)
	}
	if c.Platform == (getproviders.Platform{}) {
		c.Platform = f.EffectivePlatform()
	}
	if state == StateFetched && t.Package.Location != nil {
		c.Location = t.Package.Location.String()
	}
	if c.SourceURL == "" {
		c.SourceURL, c.FromRegistry = got.Origin, got.FromRegistry
	}
	c.Hashes = slices.DeleteFunc([]getproviders.Hash{got.H1, got.ZH}, func(h getproviders.Hash) bool { return h == "" })
	if reason := f.Policy(ctx, c); reason != nil {
		return t.Failed(resolve.StepPolicy, &PolicyError{Candidate: c, Reason: reason})
	}
	return nil
}
