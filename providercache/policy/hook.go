package policy

import (
	"context"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
)

// HookOptions are what a policy is compared with beside the packages.
type HookOptions struct {
	// Newest returns the newest version of a provider that is known to have been used, from a lock
	// file for instance; zero: none is. nil: none is of any provider. It is called by many goroutines.
	Newest func(getproviders.Provider) getproviders.Version
	Now    func() time.Time // nil: time.Now
}

// Hook returns the policy as a Fetcher asks it; nil if there are no rules. The
// errors are of type [*Refusal].
func (p Policy) Hook(opts HookOptions) func(context.Context, fetcher.Candidate) error {
	if p.IsZero() {
		return nil
	}
	now := opts.Now
	if now == nil {
		now = time.Now
	}
	return func(_ context.Context, c fetcher.Candidate) error {
		candidate := Candidate{
			Provider: c.Provider, Version: c.Version, SourceURL: c.SourceURL, Authentication: &c.Authentication, Released: c.Released, Now: now(),
		}
		if opts.Newest != nil {
			candidate.Newest = opts.Newest(c.Provider)
		}
		if refusal := p.Check(candidate); refusal != nil {
			return refusal
		}
		return nil
	}
}
