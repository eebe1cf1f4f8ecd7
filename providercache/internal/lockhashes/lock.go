// Package lockhashes finds out which hashes dependency lock files should hold, for
// any platforms, without installing anything.
//
//	f := &providercache.Fetcher{Source: source, StateDir: stateDir}
//	results, err := lockhashes.Lock(ctx, f, lockhashes.Request{
//		Requirements: required,
//		Platforms:    []getproviders.Platform{{OS: "linux", Arch: "amd64"}, {OS: "darwin", Arch: "arm64"}},
//	})
//	if err != nil {
//		return err
//	}
//	// write results[0].Locks
//
// What goes in: the requirements of working directories and what their lock files
// hold now. What comes out: the new lock files as values, and what each package
// contributes to them. [Locate] says where
// the packages are and which hashes are known of them, without downloading any.
//
// Hashes come from the source where the Fetcher's HashPolicy trusts it, from an
// earlier run, or from reading the package.
package lockhashes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// Request asks for the lock file of one working directory.
type Request struct {
	Requirements getproviders.Requirements
	Locks        *depsfile.Locks // what the lock file holds now; nil and empty are fine, and it isn't changed

	// Only are the required providers whose entries may change; nil: all. One
	// that isn't required is an error.
	Only []getproviders.Provider

	// Platforms are those that the entries have to cover; nil: the Fetcher's. AllPlatforms adds
	// those that the Source lists for the version.
	Platforms    []getproviders.Platform
	AllPlatforms bool
	// Done are platforms that the entries cover already, because their packages
	// were just installed: they are left out.
	Done []getproviders.Platform

	// Upgrade gives providers another version than the locked one: the one that
	// is named, which the requirements have to allow, or the newest that they
	// allow where that is the zero Version.
	Upgrade map[getproviders.Provider]getproviders.Version

	// Sizes has Locate ask servers for the first byte of each archive and the size of the whole, which works for signed URLs
	// that allow GET alone. Sizes of files on this machine are told in any case.
	Sizes bool
}

// Result is the answer to a Request.
type Result struct {
	// Locks are those of the request with entries that cover all platforms: hashes of the same
	// version stay, whatever their scheme, and constraints are those of the requirements now.
	// Entries of providers that aren't required, or weren't asked for, stay as they are.
	Locks    *depsfile.Locks
	Packages []Package // in the order of providers, for each in the order of platforms
	// Err joins a *Fault for each provider and platform without a hash; Locks is nil then.
	// Where it is about one platform, that names it.
	Err error
}

// Package is what a lock file should hold of one package.
type Package struct {
	event.Outcome                      // its State says how the hashes were found: event.Fetched, Recalled or Listed
	ZH            getproviders.Hash    // "" where there is no archive, or its checksum isn't known
	Hashes        []getproviders.Hash  // sorted: of this package, those that were signed together with its own, and those that the registry lists for other platforms
	New           bool                 // the lock file has no entry for this version
	Extended      bool                 // it has one, which lacks some of the Hashes
	Previous      getproviders.Version // the version that was locked before; zero: none
	Package       getproviders.Package // of Locate: where it is, and what authenticates it
	Missing       []getproviders.Hash  // of H1, and ZH if it is signed or verified, those that the lock file lacks

	registryHashes map[getproviders.Platform]getproviders.Hash // of other platforms
}

// Lock finds out what the lock files of any number of working directories
// should hold, for any platforms. It keeps no package, and writes no lock file: the
// caller saves the Locks that it returns. Results are in the order of the requests,
// and the failure of one doesn't affect the others. The error joins those of all
// results, in the same order.
//
// A package that several requests need is worked on once, and all packages are
// worked on at the same time, within Limits. The hashes of an archive's content are
// recorded in StateDir under the archive's checksum. As long as a source lists that
// checksum, which a registry's signed list does, the same user doesn't download the
// archive again; the signature is verified each time.
//
// Versions are those that are locked already, else the newest that are allowed.
// The source isn't asked for the versions of a provider that is locked.
func Lock(ctx context.Context, f *fetch.Fetcher, requests ...Request) ([]Result, error) {
	h := lockHasher{fetcher: f, archives: receipt.OpenContents(f.StateDir)}
	// What was found is saved even if the run was interrupted. A failure to save it
	// costs later runs time, and nothing else.
	defer func() { _ = h.archives.Save(context.WithoutCancel(ctx)) }()
	return answer(ctx, f, requests, h.begin, h.find, func(r Request, c Choice, found map[string]Package) Result {
		return r.Conclude(ctx, c, found, f)
	})
}

// answer chooses the packages of all requests, has each of them found once, and concludes with what was found of each.
func answer(ctx context.Context, f *fetch.Fetcher, requests []Request, begin func(context.Context, []Package), find func(context.Context, Package) (Package, error),
	conclude func(Request, Choice, map[string]Package) Result) ([]Result, error) {
	results, failed := make([]Result, len(requests)), make([]error, len(requests))
	chosen := chooseAll(ctx, f, requests)
	wanted := WantedPackages(chosen)
	begin(ctx, wanted)
	got, errs := par.Map(ctx, f.Limits.Queries, wanted, find)
	found := make(map[string]Package, len(wanted))
	for i, p := range wanted {
		got[i].Err = errs[i]
		found[KeyOf(p.Selection, p.Platform)] = got[i]
	}
	for i, r := range requests {
		results[i] = conclude(r, chosen[i], found)
		failed[i] = results[i].Err
	}
	return results, errors.Join(failed...)
}

// Choice holds the versions and platforms that a request asks for.
type Choice struct {
	Selections []getproviders.Selection
	Platforms  [][]getproviders.Platform // of each selection
	errs       []error
}

// KeyOf names the package of a selection for a platform.
func KeyOf(s getproviders.Selection, plat getproviders.Platform) string {
	return layout.UnpackedPath(s.Provider, s.Version, plat)
}

// chooseAll decides on the versions and platforms of all requests.
func chooseAll(ctx context.Context, f *fetch.Fetcher, requests []Request) []Choice {
	chosen, errs := par.Map(ctx, f.Limits.Queries, requests, func(ctx context.Context, r Request) (Choice, error) {
		return Choose(ctx, f, r), nil
	})
	for i, err := range errs { // what had ended before a choice began
		if err != nil {
			chosen[i].errs = append(chosen[i].errs, err)
		}
	}
	return chosen
}

// Choose decides on versions and platforms.
func Choose(ctx context.Context, f *fetch.Fetcher, r Request) (c Choice) {
	if f.Source == nil {
		c.errs = []error{errors.New("a Fetcher needs a Source")}
		return c
	}
	wanted, locks, errs := r.wanted()
	selections, failed := f.Resolver().Resolve(ctx, wanted, locks, resolve.Normal)
	for _, o := range failed {
		errs = append(errs, o.Err)
	}
	c.errs = errs
	for _, s := range selections {
		_, upgraded := r.Upgrade[s.Provider]
		s.Locked = s.Locked && !upgraded
		platforms, err := PlatformsFor(ctx, f, r, s)
		if err != nil {
			c.errs = append(c.errs, resolve.FailureOf(ctx, s, s.Failed(during.Metadata, err)))
			continue
		}
		c.Selections, c.Platforms = append(c.Selections, s), append(c.Platforms, platforms)
	}
	return c
}

// wanted returns the requirements that the request is about, and the locks as
// they would be if the versions that it asks for were locked already.
func (r Request) wanted() (getproviders.Requirements, *depsfile.Locks, []error) {
	only := r.Only
	if only == nil {
		only = r.Requirements.Providers()
	}
	wanted, locks := getproviders.Requirements{}, resolve.OrEmpty(r.Locks).Clone()
	var errs []error
	for _, p := range only {
		v, upgraded := r.Upgrade[p]
		s := getproviders.Selection{Provider: p, Version: v, Constraints: r.Requirements.Constraints(p)}
		required, ok := r.Requirements[p]
		switch {
		case !ok:
			errs = append(errs, s.Failed(during.Select, errNotRequired))
			continue
		case upgraded && v.IsZero():
			locks.Remove(p)
		case upgraded && !s.Constraints.Allows(v):
			errs = append(errs, s.Failed(during.Select, fmt.Errorf("version %s was asked for, and the configuration requires %q", v, s.Constraints)))
			continue
		case upgraded:
			locks.Set(depsfile.Lock{Provider: p, Version: v})
		}
		wanted[p] = required
	}
	return wanted, locks, errs
}

var errNotRequired = errors.New("it is not required by the configuration")

// PlatformsFor are the platforms of a request, each once.
func PlatformsFor(ctx context.Context, f *fetch.Fetcher, r Request, s getproviders.Selection) ([]getproviders.Platform, error) {
	platforms := r.Platforms
	if r.AllPlatforms {
		source := f.Source.Describe(s.Provider)
		if source.Platforms != nil {
			listed, err := source.Platforms(ctx, s.Provider, s.Version)
			if err != nil {
				return nil, err
			}
			platforms = slices.Concat(platforms, listed)
		}
		if len(platforms) == 0 {
			return nil, fmt.Errorf("%s doesn't list the platforms that there are packages for", source.Name)
		}
	}
	if len(platforms) == 0 {
		platforms = []getproviders.Platform{f.Platform}
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
