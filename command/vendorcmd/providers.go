package vendorcmd

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/vendored"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// origins are where packages come from.
type origins struct {
	net     sources.Network
	mirrors *sources.Mirrors // to be closed
	source  getproviders.Source
	placed  []getproviders.Provider // of which there are packages that vendor hasn't put there
}

// connect makes the sources: those of init, but for the directory that is to be
// filled.
func connect(r request, p project) (from origins, ok bool) {
	config, net, problems := r.session.Online(r.meta, r.product, "", r.opts.policies...)
	if from.net = net; !r.log.Add(problems...) {
		return from, false
	}
	using := sources.Options{Net: net, Config: config, Product: r.product, Vendored: vendored.PluginsDir}
	using.Mirrors, problems = using.OpenMirrors(r.meta, r.opts.mirrors)
	if from.mirrors = using.Mirrors; !r.log.Add(problems...) {
		return from, false
	}
	all, err := using.All(r.meta)
	if err != nil {
		return from, r.log.Failed("cli_configuration", "Can't search for providers", err)
	}
	placed, ok := findPlaced(r, p.was)
	if !ok {
		return from, false
	}
	from.placed, from.source = placed, withPlaced(all, placed, net.Signers)
	if config.Installation != nil {
		r.log.Warningf("", "The CLI configuration hides what is vendored",
			"It has a provider_installation block. With that, init installs from there alone, and doesn't look into %s"+
				". Where there is no such block, a clone needs nothing else.", vendored.PluginsDir)
	}
	return from, true
}

// require finds out which providers are needed: as for init, those of the
// configuration and of the state, and where the state isn't known, those that
// are locked, because the run that locked them may have seen it.
func require(r request, p project) (getproviders.Requirements, bool) {
	var fromState getproviders.Requirements
	known := p.dir.Root.Backend == nil
	if known {
		var err error
		if fromState, known, err = workdir.ReadState(r.meta, r.product, "", nil); err != nil {
			_, problems := p.dir.Tree.Requirements()
			return nil, r.log.Add(append(problems, workdir.StateProblem(err))...)
		}
	}
	required, problems := p.dir.Combine(r.meta.Env, fromState, known)
	return required, r.log.Add(problems...)
}

// packages is what is asked of the engine.
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

// placing is where and how the engine puts packages.
func placing(r request, p project, placed []getproviders.Provider, required getproviders.Requirements) mirror.VendorOptions {
	if !r.here() { // what isn't needed of these goes, too
		placed = slices.DeleteFunc(slices.Clone(placed), func(p getproviders.Provider) bool {
			_, ok := required[p]
			return !ok
		})
	}
	return mirror.VendorOptions{Dir: r.in(vendored.PluginsDir), Unpacked: p.wanted.Unpacked, Placed: placed, Prune: r.opts.prune || !r.here()}
}

// vendorProviders has the engine do the work. It returns what the lock file and the
// record are to say.
func vendorProviders(r request, p project, from origins, required getproviders.Requirements) (*depsfile.Locks, []getproviders.Provider, bool) {
	fetcher := from.net.Fetcher(r.meta, r.product, from.source, r.view.Observe)
	fetcher.HashPolicy, fetcher.ArchiveDir = r.opts.hashes, r.kept
	fetcher.Choice = from.net.Policy.Versions()
	fetcher.Policy = from.net.Policy.Against(p.dir.Locks, func(of getproviders.Provider) getproviders.Version {
		return from.net.Policy.Seen("", of, required.Constraints(of).Allows)
	})
	own := managed(required, from.placed)
	if !announce(r, p.was, own) {
		return nil, nil, false
	}
	result, err := mirror.Vendor(r.meta.Context, fetcher, placing(r, p, from.placed, required), packages(r, p, required))
	ok := r.log.Add(r.view.End()...)
	r.view.Packages(result.Packages)
	if r.here() {
		for _, name := range result.Pruned {
			r.view.Removed(vendored.PluginsDir + "/" + name)
		}
	}
	if err != nil {
		r.log.Add(vendorProblems(err, from.placed)...)
		recall(r, p.was, from.placed)
		return nil, nil, false
	}
	if !ok {
		return nil, nil, false
	}
	locks, ok := lockPlatforms(r, fetcher, required, from.net.Policy.Platforms(), result.Locks)
	if !ok {
		return nil, nil, false
	}
	ok = r.log.Add(sources.LockRefusals(from.net.Policy.CheckLocks(locks, required.Providers()), r.product)...)
	return locks, recorded(r, p.was, own), ok
}

// lockPlatforms adds to the locks the hashes for the platforms that a policy requires. Their packages are kept nowhere.
func lockPlatforms(r request, f *providercache.Fetcher, required getproviders.Requirements, platforms []getproviders.Platform, locks *depsfile.Locks) (*depsfile.Locks, bool) {
	if len(platforms) == 0 {
		return locks, true
	}
	results, err := f.Lock(r.meta.Context, providercache.LockRequest{Requirements: required, Locks: locks, Platforms: platforms})
	if err != nil {
		return nil, r.log.Add(explain.LockProblems(r.product, explain.LockedDir{Result: results[0]})...)
	}
	return results[0].Locks, true
}

// vendorProblems explains what went wrong with providers.
func vendorProblems(err error, placed []getproviders.Provider) (problems problem.List) {
	for _, p := range explain.MirrorProblems(err) {
		if p.Summary == "Failed to write the mirror" {
			p = problem.CodedError("failed", "Failed to vendor providers", p.Detail)
		}
		problems = append(problems, p)
	}
	if mismatch := getproviders.FaultOf(err, getproviders.ErrLockMismatch); mismatch != nil {
		problems = append(problems, problem.Errorf("lock_file", "The lock file speaks against a package",
			"Find out where the package of %s comes from, and compare it with what its publisher lists. If it is the right one, run \"tfdeps providers lock -from=config -platform=OS_ARCH %s\", and vendor again.",
			mismatch.Provider, mismatch.Provider))
	}
	missing := getproviders.FaultOf(err, getproviders.ErrPlatformMissing)
	if missing != nil && slices.Contains(placed, missing.Provider) {
		problems = append(problems, problem.Errorf("not_cached", "A package that isn't there can't be fetched",
			"%s has packages of %s of which %s says nothing: they were put there by other means, and init takes that provider from nowhere else. Find out who put them there, and put the missing package beside them. If the provider's own source may be used instead, remove them all, and vendor fetches it from there.",
			vendored.PluginsDir, missing.Provider, vendored.RecordName))
	}
	return problems
}

// findPlaced finds out of which providers there are packages that vendor hasn't
// put there: they may exist nowhere else.
func findPlaced(r request, was vendored.Record) ([]getproviders.Provider, bool) {
	there, err := providersThere(r.meta.Context)
	if err != nil {
		return nil, r.log.Failed("vendored", "Failed to read what is vendored", err)
	}
	return slices.DeleteFunc(there, func(p getproviders.Provider) bool { return slices.Contains(was.Providers, p) }), true
}

// providersThere are those of which there is any package.
func providersThere(ctx context.Context) ([]getproviders.Provider, error) {
	if info, err := os.Stat(filepath.FromSlash(vendored.PluginsDir)); err != nil || !info.IsDir() {
		return nil, nil
	}
	return (&getproviders.FilesystemMirrorSource{Dir: filepath.FromSlash(vendored.PluginsDir)}).Providers(ctx)
}

// withPlaced has what is placed come from where it is, and from nowhere else: so
// does an init in a clone.
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

// managed are the providers that vendor puts there.
func managed(required getproviders.Requirements, placed []getproviders.Provider) []getproviders.Provider {
	return slices.DeleteFunc(required.Providers(), func(p getproviders.Provider) bool {
		return p.IsBuiltIn() || slices.Contains(placed, p)
	})
}
