package vendorcmd

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/vendored"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// connect opens the sources: those of init, without the directory that vendor
// fills. It returns the placed providers: those with packages there that vendor hasn't written.
func connect(r request, p project) (placed []getproviders.Provider, ok bool) {
	if !r.Online("", r.opts.policies...) {
		return nil, false
	}
	all, ok := r.OpenSources(r.opts.mirrors, cliconfig.SourceOptions{Except: vendored.PluginsDir})
	if !ok {
		return nil, false
	}
	if placed, ok = findPlaced(r, p.was); !ok {
		return nil, false
	}
	r.Source = withPlaced(all, placed, r.Signers)
	if r.Config.Installation != nil {
		r.Log.Warningf("", "The CLI configuration hides what is vendored",
			"It has a provider_installation block. With that, init installs from there alone, and doesn't look into %s"+
				". Where there is no such block, a clone needs nothing else.", vendored.PluginsDir)
	}
	return placed, true
}

// require returns the required providers: as for init, those of the
// configuration and of the state, or if the state is unknown, the locked
// ones, because the run that locked them may have read it.
func require(r request, p project) (required getproviders.Requirements, ok bool) {
	var problems problem.List
	if p.dir.Root.Backend == nil {
		required, _, problems = p.dir.Requirements(r.Meta, "", nil)
	} else {
		required, problems = p.dir.Combine(r.Meta.Env, nil, false)
	}
	return required, r.Log.Add(problems...)
}

// packages returns the request to the engine.
func packages(r request, p project, required getproviders.Requirements) providercache.LockRequest {
	request := providercache.LockRequest{Requirements: required, Locks: p.dir.Locks, Platforms: p.wanted.Platforms}
	if r.opts.upgrade {
		request.Upgrade = map[getproviders.Provider]getproviders.Version{}
		for _, p := range required.Providers() {
			request.Upgrade[p] = getproviders.Version{}
		}
	}
	return request
}

// placing returns the options that say where and how the engine writes packages.
func placing(r request, p project, placed []getproviders.Provider, required getproviders.Requirements) mirror.VendorOptions {
	if !r.here() { // removes placed packages that aren't required, too
		placed = slices.DeleteFunc(slices.Clone(placed), func(p getproviders.Provider) bool {
			_, ok := required[p]
			return !ok
		})
	}
	return mirror.VendorOptions{Dir: r.in(vendored.PluginsDir), Unpacked: p.wanted.Unpacked, Placed: placed, Prune: r.opts.prune || !r.here()}
}

// vendorProviders vendors the providers. It returns the new content of the lock file, and the providers
// for the record.
func vendorProviders(r request, p project, placed []getproviders.Provider, required getproviders.Requirements) (*depsfile.Locks, []getproviders.Provider, bool) {
	fetcher := r.Fetcher(r.view.Observe)
	fetcher.HashPolicy, fetcher.ArchiveDir = r.opts.hashes, r.ArchiveDir()
	fetcher.Policy = r.Policy.Against(p.dir.Locks, func(of getproviders.Provider) getproviders.Version {
		return r.Policy.Seen("", of, required.Constraints(of).Allows)
	})
	own := managed(required, placed)
	if !announce(r, p.was, own) {
		return nil, nil, false
	}
	result, err := mirror.Vendor(r.Meta.Context, fetcher, placing(r, p, placed, required), packages(r, p, required))
	ok := r.Log.Add(r.view.End()...)
	r.view.Packages(result.Packages)
	if r.here() {
		for _, name := range result.Pruned {
			r.view.Removed(vendored.PluginsDir + "/" + name)
		}
	}
	if err != nil {
		r.Log.Add(vendorProblems(r, p, required, err, placed)...)
		recall(r, p.was, placed)
		return nil, nil, false
	}
	if !ok {
		return nil, nil, false
	}
	locks := result.Locks
	if platforms := r.Policy.Rules.LockPlatforms(); len(platforms) > 0 { // their packages are not kept
		request := providercache.LockRequest{Requirements: required, Locks: locks, Platforms: platforms}
		if locks, ok = r.LockPlatforms(fetcher, request); !ok {
			return nil, nil, false
		}
	}
	return locks, recorded(r, p.was, own), r.CheckLocks(locks, required.Providers())
}

// vendorProblems explains the errors of providers.
func vendorProblems(r request, p project, required getproviders.Requirements, err error, placed []getproviders.Provider) problem.List {
	wanted := sources.Wanted{Required: required, Locks: []*depsfile.Locks{p.dir.Locks}, MirrorsHint: sources.OnlyMirrors}
	wanted.Cache, _ = sources.OpenCache(r.Meta, r.Config) // a warning about it belongs to commands that use it

	problems := r.MirrorProblems(err, "failed", "Failed to vendor providers", r.ExplainMissing(err, wanted))
	if mismatch := getproviders.FaultOf(err, getproviders.ErrLockMismatch); mismatch != nil {
		problems = append(problems, problem.Errorf("lock_file", "A package contradicts the lock file",
			"Find out where the package of %s comes from, and compare it with what its publisher lists. If it is the right one, run \"%s providers lock -from=config -platform=OS_ARCH %[1]s\", and vendor again.",
			mismatch.Provider, r.Called))
	}
	missing := getproviders.FaultOf(err, getproviders.ErrPlatformMissing)
	if missing != nil && slices.Contains(placed, missing.Provider) {
		problems = append(problems, problem.Errorf("not_cached", "A missing package can't be fetched",
			"%s has packages of %s that %s doesn't record: they were put there by other means, and init takes that provider from nowhere else. Find out who put them there, and put the missing package beside them. If the provider's own source may be used instead, remove them all, and vendor fetches it from there.",
			vendored.PluginsDir, missing.Provider, vendored.RecordName))
	}
	return problems
}

// findPlaced returns the providers with packages in PluginsDir that vendor hasn't
// written. Such packages may exist nowhere else.
func findPlaced(r request, was vendored.Record) ([]getproviders.Provider, bool) {
	there, err := providersThere(r.Meta.Context)
	if err != nil {
		return nil, r.Log.Failed("vendored", "Failed to read what is vendored", err)
	}
	return slices.DeleteFunc(there, func(p getproviders.Provider) bool { return slices.Contains(was.Providers, p) }), true
}

// providersThere returns the providers with packages in PluginsDir.
func providersThere(ctx context.Context) ([]getproviders.Provider, error) {
	if info, err := os.Stat(filepath.FromSlash(vendored.PluginsDir)); err != nil || !info.IsDir() {
		return nil, nil
	}
	return (&getproviders.FilesystemMirrorSource{Dir: filepath.FromSlash(vendored.PluginsDir)}).Providers(ctx)
}

// withPlaced makes PluginsDir the only source of placed providers, because
// init in a clone has no other source for them.
func withPlaced(all getproviders.MultiSource, placed []getproviders.Provider, signers getproviders.Signers) getproviders.MultiSource {
	if len(placed) == 0 {
		return all
	}
	var patterns []getproviders.Pattern
	for _, p := range placed {
		patterns = append(patterns, getproviders.Pattern(p))
	}
	selectors := []getproviders.Selector{{
		Source: &getproviders.FilesystemMirrorSource{Dir: filepath.FromSlash(vendored.PluginsDir), Signers: signers}, Include: patterns,
	}}
	for _, s := range all.Selectors {
		s.Exclude = slices.Concat(s.Exclude, patterns)
		selectors = append(selectors, s)
	}
	all.Selectors = selectors
	return all
}

// managed returns the providers whose packages vendor writes.
func managed(required getproviders.Requirements, placed []getproviders.Provider) []getproviders.Provider {
	return slices.DeleteFunc(required.Providers(), func(p getproviders.Provider) bool {
		return p.IsBuiltIn() || slices.Contains(placed, p)
	})
}
