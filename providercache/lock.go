package providercache

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// LockRequest asks for the lock file of one working directory.
type LockRequest struct {
	Requirements getproviders.Requirements
	Locks        *depsfile.Locks // what the lock file holds now; nil and empty are fine, and it isn't changed

	// Only are the required providers whose entries may change; nil: all. One
	// that isn't required is an error.
	Only []getproviders.Provider

	// Platforms are those that the entries have to be good for; nil: the
	// Installer's. AllPlatforms adds those that the Source lists for the version.
	Platforms    []getproviders.Platform
	AllPlatforms bool
	// Done are platforms that the entries are good for, because their packages
	// were installed just now: they are left out of the others.
	Done []getproviders.Platform

	// Upgrade gives providers another version than the locked one: the one that
	// is named, which the requirements have to allow, or the newest that they
	// allow where that is the zero Version.
	Upgrade map[getproviders.Provider]getproviders.Version
}

// LockResult is the answer to a LockRequest.
type LockResult struct {
	// Locks are those of the request in which entries were made that are good for
	// all platforms: hashes of the same version stay, whatever their scheme, and
	// constraints are those of the requirements now. Entries of providers that
	// aren't required, or weren't asked for, stay as they are.
	Locks    *depsfile.Locks
	Packages []LockedPackage // in the order of providers, for each in the order of platforms
	// Err joins a *ProviderError for each provider and platform that there is no
	// hash for; Locks is nil then. Where it is about one platform, it wraps a
	// *PlatformError.
	Err error
}

// LockedPackage is what a lock file should hold of one package.
type LockedPackage struct {
	Selection      Selection
	Platform       getproviders.Platform
	H1             getproviders.Hash
	ZH             getproviders.Hash                 // "" where there is no archive, or nobody said what it has
	Authentication getproviders.AuthenticationResult // zero if From is HashesListed and nothing is signed
	Hashes         []getproviders.Hash               // sorted: of this package, those that were signed together with its own, and those that are told of other platforms
	From           HashOrigin                        // how they became known
	Source         string                            // as Source.Describe names it
	Change         LockChange                        // what they mean to the lock file
	Previous       getproviders.Version              // that was locked before; zero: none
	Missing        []getproviders.Hash               // of H1, and ZH if that is vouched for, those that the lock file lacks

	told map[getproviders.Platform]getproviders.Hash // by the registry
}

// HashOrigin says how the hashes of a package became known.
type HashOrigin int

// The ways. All but the last come to the same hashes.
const (
	HashesComputed HashOrigin = iota // the package was read
	HashesRecalled                   // its archive was read by an earlier run, which remembered what is in it
	HashesListed                     // the source listed them, and was believed
)

// LockChange says what a package's hashes mean to the lock file.
type LockChange int

const (
	LockUnchanged LockChange = iota // it holds all of them
	LockExtended                    // it gets more hashes for a version that it has
	LockNew                         // it has no entry for this version
)

// PlatformError says for which platform something failed.
type PlatformError struct {
	Platform getproviders.Platform
	Err      error
}

// Error implements error.
func (e *PlatformError) Error() string { return e.Platform.String() + ": " + e.Err.Error() }

// Code is that of the cause; "" if it has none.
func (e *PlatformError) Code() string { return getproviders.CodeOf(e.Err) }

// Unwrap returns the cause.
func (e *PlatformError) Unwrap() error { return e.Err }

// Lock finds out what the lock files of any number of working directories
// should hold, for any platforms. It needs no Target and writes no package
// anywhere; who wants the files changed, saves what it returns. Results belong
// to the requests, in their order, and one that fails doesn't keep others from
// being answered.
//
// A package that several requests need is worked on once. All of them are
// worked on at the same time, within Limits. What an archive contains is
// remembered in StateDir by the archive's checksum, which never changes: it isn't
// fetched again by the same user, as long as a source tells the checksum, which
// a registry's signed list does. Everything that such a list vouches for is
// checked each time.
//
// Versions are those that are locked already, else the newest that are allowed.
// No request asks for what a locked version settles.
func Lock(ctx context.Context, f *Fetcher, requests ...LockRequest) []LockResult {
	results := make([]LockResult, len(requests))
	if f.Source == nil {
		for i := range results {
			results[i].Err = errors.New("an Installer needs a Source")
		}
		return results
	}
	chosen, _ := par.Map(ctx, f.Limits.withDefaults().Queries, requests, func(ctx context.Context, r LockRequest) (choice, error) {
		return choose(ctx, f, r), nil
	})
	found := hashAll(ctx, f, wantedPackages(chosen))
	for i, r := range requests {
		results[i] = r.conclude(ctx, chosen[i], found, f.HashPolicy)
	}
	return results
}

// choice is what the versions and platforms of a request come to.
type choice struct {
	selections []Selection
	platforms  [][]getproviders.Platform // of each selection
	errs       []error
}

// packageKey names a package.
type packageKey struct {
	provider getproviders.Provider
	version  getproviders.Version
	platform getproviders.Platform
}

func keyOf(s Selection, plat getproviders.Platform) packageKey {
	return packageKey{s.Provider, s.Version, plat}
}

// choose decides on versions and platforms.
func choose(ctx context.Context, f *Fetcher, r LockRequest) (c choice) {
	wanted, locks, errs := r.wanted()
	selections, failed := f.resolve(ctx, wanted, locks, Normal)
	for _, o := range failed {
		errs = append(errs, o.Err)
	}
	c.errs = errs
	for _, s := range selections {
		_, upgraded := r.Upgrade[s.Provider]
		s.Locked = s.Locked && !upgraded
		platforms, err := platformsFor(ctx, f, r, s)
		if err != nil {
			c.errs = append(c.errs, failureOf(ctx, s, s.failed(StepMetadata, err)))
			continue
		}
		c.selections, c.platforms = append(c.selections, s), append(c.platforms, platforms)
	}
	return c
}

// wanted returns the requirements that the request is about, and the locks as
// they would be if the versions that it asks for were locked already.
func (r LockRequest) wanted() (getproviders.Requirements, *depsfile.Locks, []error) {
	only := r.Only
	if only == nil {
		only = r.Requirements.Providers()
	}
	wanted, locks := getproviders.Requirements{}, orEmpty(r.Locks).Clone()
	var errs []error
	for _, p := range only {
		v, upgraded := r.Upgrade[p]
		s := Selection{Provider: p, Version: v, Constraints: r.Requirements.Constraints(p)}
		required, ok := r.Requirements[p]
		switch {
		case !ok:
			errs = append(errs, s.failed(StepSelect, errNotRequired))
			continue
		case upgraded && v == (getproviders.Version{}):
			locks.Remove(p)
		case upgraded && !s.Constraints.Allows(v):
			errs = append(errs, s.failed(StepSelect, fmt.Errorf("version %s was asked for, and the configuration requires %q", v, s.Constraints)))
			continue
		case upgraded:
			locks.Set(depsfile.Lock{Provider: p, Version: v})
		}
		wanted[p] = required
	}
	return wanted, locks, errs
}

var errNotRequired = errors.New("it is not required by the configuration")

// platformsFor are the platforms of a request, each once.
func platformsFor(ctx context.Context, f *Fetcher, r LockRequest, s Selection) ([]getproviders.Platform, error) {
	platforms := r.Platforms
	if r.AllPlatforms {
		listed, err := getproviders.PlatformsOf(ctx, f.Source, s.Provider, s.Version)
		if err != nil {
			return nil, err
		}
		platforms = slices.Concat(platforms, listed)
		if len(platforms) == 0 {
			return nil, fmt.Errorf("%s doesn't list the platforms that there are packages for", f.Source.Describe(s.Provider))
		}
	}
	if len(platforms) == 0 {
		platforms = []getproviders.Platform{f.platform()}
	}
	var unique []getproviders.Platform
	for _, plat := range platforms {
		if err := plat.Validate(); err != nil {
			return nil, err
		}
		if !slices.Contains(unique, plat) && !slices.Contains(r.Done, plat) {
			unique = append(unique, plat)
		}
	}
	return unique, nil
}
