// Package lockhashes finds the hashes that dependency lock files
// should hold, for any platforms, without installing anything.
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
// [Lock] gets the requirements of working directories and their current lock files. It
// returns the new lock files as values, and the hashes of each package. [Locate] returns
// where the packages are and which of their hashes are known, without downloading any.
//
// Hashes come from the source if the Fetcher's HashPolicy trusts it, from an earlier run, or from reading the package.
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
	Locks        *depsfile.Locks // what the lock file holds now; nil and empty are fine; it isn't changed

	// Only are the required providers whose entries may change; nil: all. A provider that isn't required is an error.
	Only []getproviders.Provider

	// Platforms are those that the entries have to cover; nil: the Fetcher's.
	// AllPlatforms adds those that the Source lists for the version.
	Platforms    []getproviders.Platform
	AllPlatforms bool
	// Done are platforms that are left out, because their packages were just installed and the entries cover them.
	Done []getproviders.Platform

	// Upgrade names providers that get another version than the locked one: the given version,
	// which the requirements have to allow, or for the zero Version the newest that they allow.
	Upgrade map[getproviders.Provider]getproviders.Version

	// Sizes makes Locate ask servers for the size of each archive. It requests the first byte,
	// because signed URLs may allow only GET. Sizes of files on this machine are always set.
	Sizes bool
}

// Result is the result of one Request.
type Result struct {
	// Locks are those of the request with entries that cover all platforms. Hashes of the same
	// version stay, whatever their scheme; constraints are those of the current requirements.
	// Entries of providers that aren't required, or not in Only, stay as they are.
	Locks    *depsfile.Locks
	Packages []Package // sorted by provider, then by platform
	// Err joins a *Fault for each provider or platform without a hash,
	// which names the platform if it is about one; Locks is nil then.
	Err error
}

// Package has the hashes of one package, and how they change the lock file.
type Package struct {
	event.Outcome                      // its State says how the hashes were found: event.Fetched, Recalled or Listed
	ZH            getproviders.Hash    // "" if there is no archive, or its checksum isn't known
	Hashes        []getproviders.Hash  // sorted: of this package, those signed together with its own, and those that the registry lists for other platforms
	New           bool                 // the lock file has no entry for this version
	Extended      bool                 // the lock file has an entry for the version, which lacks some of the Hashes
	Previous      getproviders.Version // the version that was locked before; zero: none
	Package       getproviders.Package // set by Locate: where it is, and what authenticates it
	Missing       []getproviders.Hash  // H1, and ZH if it is signed or verified, if the lock file lacks them

	registryHashes map[getproviders.Platform]getproviders.Hash // of other platforms
}

// Lock finds the hashes that the lock files of any number of working directories should hold, for any platforms. It
// keeps no package, and writes no lock file: the caller saves the returned Locks. Results are in the order of the
// requests; a request that fails doesn't affect the others. The error joins those of all results, in the same order.
//
// A package that several requests need is handled once, and all packages are handled at the same time, within Limits. The h1
// of an archive is recorded in StateDir under the archive's checksum. As long as a source lists that checksum, as a
// registry's signed list does, the same user doesn't download the archive again; the signature is verified each time.
//
// Where each package is, is asked before the first archive is requested. A request that has failed by then gets none.
//
// Locked versions are kept; for other providers the newest allowed version is
// chosen. The source isn't asked for versions of locked providers.
func Lock(ctx context.Context, f *fetch.Fetcher, requests ...Request) ([]Result, error) {
	h := lockHasher{fetcher: f, archives: receipt.OpenContents(f.StateDir)}
	// Hashes are saved even if the run was interrupted. If saving fails, later runs only take longer.
	defer func() { _ = h.archives.Save(context.WithoutCancel(ctx)) }()
	return answer(ctx, f, requests, work{
		begin:    h.begin,
		describe: h.describe,
		find:     h.find,
		conclude: func(r Request, c Choice, found map[string]Package) Result { return r.Conclude(ctx, c, found, f) },
		withhold: h.withhold,
	})
}

// work is what Lock and Locate do differently.
type work struct {
	begin    func(context.Context, []Package)
	describe func(context.Context, Package) (Package, error) // asks the source where a package is
	find     func(context.Context, Package) (Package, error) // finds the hashes of a described package
	conclude func(Request, Choice, map[string]Package) Result

	// withhold is told of each package that isn't worth finding, because the only requests that need it have failed already. nil:
	// all packages are found.
	withhold func(context.Context, Package)
}

// answer chooses the packages of all requests, asks for the description of each once, then finds each once, and concludes each request with
// the results.
func answer(ctx context.Context, f *fetch.Fetcher, requests []Request, w work) ([]Result, error) {
	chosen := chooseAll(ctx, f, requests)
	wanted := WantedPackages(chosen)
	w.begin(ctx, wanted)

	found := make(map[string]Package, len(wanted))
	described := each(ctx, f, wanted, found, w.describe)
	if w.withhold != nil {
		described = withhold(ctx, described, chosen, found, w.withhold)
	}
	each(ctx, f, described, found, w.find)

	results, failed := make([]Result, len(requests)), make([]error, len(requests))
	for i, r := range requests {
		results[i] = w.conclude(r, chosen[i], found)
		failed[i] = results[i].Err
	}

	return results, errors.Join(failed...)
}

// each works on many packages at once, and sets the results in found. It returns those that haven't failed.
func each(ctx context.Context, f *fetch.Fetcher, packages []Package, found map[string]Package, do func(context.Context, Package) (Package, error)) (done []Package) {
	got, errs := par.Map(ctx, f.Limits.Queries, packages, do)
	for i, p := range packages {
		got[i].Err = errs[i]
		found[KeyOf(p.Selection, p.Platform)] = got[i]
		if errs[i] == nil {
			done = append(done, got[i])
		}
	}

	return done
}

// withhold removes from found the packages that no request needs any more, because all that need them have failed, and returns the others.
func withhold(ctx context.Context, packages []Package, chosen []Choice, found map[string]Package, tell func(context.Context, Package)) (rest []Package) {
	needed := map[string]bool{}
	for _, c := range chosen {
		keys := c.keys()
		lacks := func(key string) bool { return found[key].Err != nil }
		if c.HasFailed() || slices.ContainsFunc(keys, lacks) {
			continue
		}

		for _, key := range keys {
			needed[key] = true
		}
	}

	for _, p := range packages {
		key := KeyOf(p.Selection, p.Platform)
		if needed[key] {
			rest = append(rest, p)
			continue
		}

		delete(found, key)
		tell(ctx, p)
	}

	return rest
}

// Choice has the chosen versions and platforms of a request.
type Choice struct {
	Selections []getproviders.Selection
	Platforms  [][]getproviders.Platform // of each selection
	errs       []error
}

// HasFailed reports whether a provider has no version or platform.
func (c Choice) HasFailed() bool { return len(c.errs) > 0 }

// keys names all packages.
func (c Choice) keys() (keys []string) {
	for i, s := range c.Selections {
		for _, plat := range c.Platforms[i] {
			keys = append(keys, KeyOf(s, plat))
		}
	}
	return keys
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
	for i, err := range errs { // ctx ended before the choice began
		if err != nil {
			chosen[i].errs = append(chosen[i].errs, err)
		}
	}
	return chosen
}

// Choose decides on versions and platforms.
func Choose(ctx context.Context, f *fetch.Fetcher, r Request) (c Choice) {
	wanted, locks, errs := r.wanted()
	selections, _, failed := f.Resolver().Resolve(ctx, wanted, locks, resolve.Normal)
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

// wanted returns the requirements of the providers that the request is about, and
// the locks as if the versions that it asks for were locked already.
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

// PlatformsFor returns the platforms of a request, each once.
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
