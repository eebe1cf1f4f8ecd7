package providercache

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// ErrNotTried matches errors of providers that weren't installed
// because others had failed before the first archive was requested.
var ErrNotTried = errors.New("it was not tried, because other providers failed")

// Installed is a provider that is ready to run.
type Installed struct {
	Outcome                        // its Path is below Target, so relative if Target is; if EnsureAll sets Err, only Provider is set beside it
	Executable string              // in the directory at Path
	Hashes     []getproviders.Hash // that a lock file would record
}

// Ensure puts the newest version of one provider that the constraints allow into Target, for
// callers without a working directory and a lock file. c may be the zero Constraints.
//
// Without a lock file, no hash says what a package should be, and a version alone proves
// nothing. A receipt does, so StateDir should be set: a package in Target or in the Cache is
// then used if it came from the same source that would be asked now. Otherwise the package is
// fetched each time. If the one in Target turns out to be equal, it stays untouched, so that a
// provider that runs from there isn't disturbed, and gets a receipt. Ensure asks for versions each time; a program
// that calls it often should keep Hashes, and use Install with locks made of them.
//
// The error is a *getproviders.Fault.
func (in *Installer) Ensure(ctx context.Context, p getproviders.Provider, c getproviders.Constraints) (Installed, error) {
	results, err := in.EnsureAll(ctx, getproviders.Requirements{p: {{Constraints: c}}})
	if err != nil {
		return Installed{}, err
	}
	return results[0], nil
}

// EnsureAll is Ensure for many providers, which are installed at the same time,
// within Limits. The results are in the order of providers, one for each, and the
// error joins those of all that failed, as that of Install does. Providers that
// weren't tried because others had failed have an Err that matches ErrNotTried,
// which isn't part of the joined error.
func (in *Installer) EnsureAll(ctx context.Context, req getproviders.Requirements) ([]Installed, error) {
	wanted, results := maps.Clone(req), map[getproviders.Provider]Installed{}
	var errs []error
	for _, p := range req.Providers() {
		if err := in.refuseToEnsure(ctx, p); err != nil {
			results[p], errs = notInstalled(p, err), append(errs, err)
			delete(wanted, p)
		}
	}
	if len(wanted) > 0 {
		outcomes, err := in.install(ctx, wanted, resolve.OrEmpty(nil), Normal)
		if err == nil {
			err = joinErrors(outcomes)
		}
		errs = append(errs, getproviders.SplitErrors(err)...)
		for _, o := range outcomes {
			done := in.installed(o)
			results[done.Provider] = done
			if done.Err != nil && o.Err == nil && o.State != event.NotTried {
				errs = append(errs, done.Err)
			}
		}
		for p := range wanted {
			if _, ok := results[p]; !ok {
				results[p] = notInstalled(p, err)
			}
		}
	}
	all := make([]Installed, 0, len(results))
	for _, p := range req.Providers() {
		all = append(all, results[p])
	}
	return all, errors.Join(errs...)
}

// refuseToEnsure returns an error for providers that can't be installed at all.
func (in *Installer) refuseToEnsure(ctx context.Context, p getproviders.Provider) error {
	s := getproviders.Selection{Provider: p}
	switch {
	case in.Fetcher == nil:
		return nil // Install returns the error
	case p.IsBuiltIn():
		return resolve.Fail(ctx, in.fetcher().Emit, s, s.Failed(during.BuiltIn, errors.New("a built-in provider has no package")))
	case in.Skip[p]:
		return resolve.Fail(ctx, in.fetcher().Emit, s, s.Failed(during.Query, errors.New("it can't be both skipped and installed")))
	}
	return nil
}

// installed turns an outcome of an installation without locks into an Installed.
func (in *Installer) installed(o outcome) Installed {
	err := o.Err
	if o.State == event.NotTried {
		err = o.Failed(during.Fetch, ErrNotTried)
	}
	if err != nil {
		return notInstalled(o.Provider, err)
	}
	done := Installed{Outcome: o.Outcome, Hashes: o.lockedHashes(nil)}
	done.Path = in.packagePath(o.Provider, o.Version)
	if done.Executable, err = unpack.FindExecutable(done.Path, o.Provider); err != nil {
		return notInstalled(o.Provider, o.Failed(during.Publish, fmt.Errorf("the package is gone: %w", err)))
	}
	return done
}

func notInstalled(p getproviders.Provider, err error) Installed {
	return Installed{Outcome: Outcome{Selection: getproviders.Selection{Provider: p}, State: event.Failed, Err: err}}
}
