package providercache

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// Installed is a provider that is ready to run.
type Installed struct {
	Provider       getproviders.Provider
	Version        getproviders.Version
	Dir            string              // below Target, so relative if Target is
	Executable     string              // in Dir
	Hashes         []getproviders.Hash // what a lock file would record
	Authentication getproviders.AuthenticationResult
}

// Ensure makes Target hold the newest version of one provider that the
// constraints allow, for callers who have neither a working directory nor a
// lock file. c may be the zero Constraints.
//
// Without a lock file there is no hash by which a package could be recognised,
// and a version alone proves nothing. What does is a receipt, so StateDir should
// be set: then a package that is in Target or in the Cache, and came from the
// source that it would come from now, is used. Else the package is fetched each
// time, and what is in Target stays untouched if it turns out to be the same; a
// provider that runs from there is not disturbed. Versions are asked for each
// time; a program that calls it often should keep Hashes, and use Install with locks made
// of them.
//
// The error is a *resolve.ProviderError, *resolve.UnwritableError or
// *resolve.NoSpaceError.
func (in *Installer) Ensure(ctx context.Context, p getproviders.Provider, c getproviders.Constraints) (Installed, error) {
	if p.IsBuiltIn() {
		s := resolve.Selection{Provider: p}
		return Installed{}, resolve.Fail(ctx, in.Fetcher.Emit, s, s.Failed(resolve.StepBuiltIn, errors.New("a built-in provider has no package")))
	}
	if in.Skip[p] {
		s := resolve.Selection{Provider: p}
		return Installed{}, resolve.Fail(ctx, in.Fetcher.Emit, s, s.Failed(resolve.StepQuery, errors.New("it is to be skipped, and can't be installed too")))
	}
	req := getproviders.Requirements{p: {{Constraints: c}}}
	locks, report, err := in.Install(ctx, req, nil, resolve.Normal)
	if err != nil {
		return Installed{}, err
	}
	outcome := report.Outcomes[0]
	lock, _ := locks.Provider(p)
	installed := Installed{
		Provider:       p,
		Version:        lock.Version,
		Dir:            in.packagePath(p, lock.Version),
		Hashes:         lock.Hashes,
		Authentication: outcome.Authentication,
	}
	installed.Executable, err = unpack.FindExecutable(installed.Dir, p)
	if err != nil {
		return Installed{}, outcome.Selection.Failed(resolve.StepPublish, fmt.Errorf("the package is gone: %w", err))
	}
	return installed, nil
}
