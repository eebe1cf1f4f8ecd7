package vendorcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs/modules/modulelock"
	"github.com/tfdeps/tfdeps/configs/modules/vendored"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/vendoring"
)

// connect makes the sources: those of init, but for the directory that is to be
// filled.
func (v *vendorRun) connect() (problems problem.List) {
	config, net, problems := sources.Online(v.meta, v.product, "")
	if v.net = net; problems.HasErrors() {
		return problems
	}
	all, err := sources.Options{Net: net, Config: config, Product: v.product, Vendored: vendored.PluginsDir}.All(v.meta)
	if err != nil {
		return append(problems, problem.Error("Can't search for providers", problem.Sentence(err)))
	}
	if problems = append(problems, v.findPlaced()...); problems.HasErrors() {
		return problems
	}
	if v.source = v.withPlaced(all); config.Installation != nil {
		problems = append(problems, problem.Warning("The CLI configuration hides what is vendored",
			"It has a provider_installation block. With that, init installs from there alone, and doesn't look into "+vendored.PluginsDir+
				". Where there is no such block, a clone needs nothing else."))
	}
	return problems
}

// require finds out which providers are needed: as for init, those of the
// configuration and of the state, and where the state isn't known, those that
// are locked, because the run that locked them may have seen it.
func (v *vendorRun) require() (problems problem.List) {
	var fromState getproviders.Requirements
	known := v.dir.Root.Backend == nil
	if known {
		var err error
		if fromState, _, err = workdir.ReadState(v.meta, v.product, "", nil); err != nil {
			_, problems = v.dir.Tree.Requirements(v.product)
			return append(problems, problem.Error("Error loading state", problem.Sentence(err)))
		}
	}
	v.required, problems = v.dir.Combine(v.meta.Env, fromState, known)
	return problems
}

// request is what is asked of the engine.
func (v *vendorRun) request() lockhashes.Request {
	request := lockhashes.Request{Requirements: v.required, Locks: v.dir.Locks, Platforms: v.record.Platforms}
	if v.opts.upgrade {
		request.Upgrade = map[getproviders.Provider]getproviders.Version{}
		for _, p := range v.required.Providers() {
			request.Upgrade[p] = getproviders.Version{}
		}
	}
	return request
}

func (v *vendorRun) vendorOptions() vendoring.Options {
	placed := v.placed
	if v.base != "." { // what isn't needed of these goes, too
		placed = slices.DeleteFunc(slices.Clone(placed), func(p getproviders.Provider) bool {
			_, required := v.required[p]
			return !required
		})
	}
	return vendoring.Options{Dir: v.in(vendored.PluginsDir), Unpacked: v.record.Unpacked, Placed: placed, Prune: v.opts.prune || v.base != "."}
}

// vendorProviders has the engine do the work.
func (v *vendorRun) vendorProviders() (problems problem.List) {
	fetcher := fetcher.Fetcher{
		Source: v.source, Client: v.net.Archives, Product: v.product,
		Observe: event.Observer(v.view.Observe), Now: v.meta.Now, StateDir: v.meta.StateDir, HashPolicy: v.opts.hashes,
	}
	if problems = v.announce(); problems.HasErrors() {
		return problems
	}
	var err error
	v.result, err = vendoring.Update(v.meta.Context, &fetcher, v.vendorOptions(), v.request())
	problems = append(problems, v.view.End()...)
	v.view.Packages(v.result.Packages)
	if v.base == "." {
		for _, name := range v.result.Pruned {
			v.view.Removed(vendored.PluginsDir + "/" + name)
		}
	}
	if err != nil {
		return slices.Concat(problems, v.vendorProblems(err), v.recall())
	}
	v.record.Providers = v.vendoredProviders()
	return problems
}

// vendorProblems explains what went wrong with providers.
func (v *vendorRun) vendorProblems(err error) (problems problem.List) {
	for _, p := range view.MirrorProblems(err) {
		if p.Summary == "Failed to write the mirror" {
			p.Summary = "Failed to vendor providers"
		}
		problems = append(problems, p)
	}
	if mismatch, ok := errors.AsType[*resolve.LockMismatchError](err); ok {
		problems = append(problems, problem.Error("The lock file speaks against a package", fmt.Sprintf(
			"If the package of %s is what you want, add its hashes to the lock file with \"tfdeps providers lock -from=config -platform=OS_ARCH %s\", and vendor again.",
			mismatch.Provider, mismatch.Provider)))
	}
	missing, ok := errors.AsType[*getproviders.PlatformMissingError](err)
	if ok && slices.Contains(v.placed, missing.Provider) {
		problems = append(problems, problem.Error("A package that isn't there can't be fetched", fmt.Sprintf(
			"%s has packages of %s of which %s says nothing: they were put there by other means, and init takes that provider from nowhere else. Put the missing package beside them; or remove them all, to have the provider fetched from where init would take it then.",
			vendored.PluginsDir, missing.Provider, vendored.RecordName)))
	}
	return problems
}

// saveLockFiles writes what is locked.
func (v *vendorRun) saveLockFiles() problem.List {
	if v.toLock != nil {
		if err := v.toLock.Save(v.in(modulelock.FileName)); err != nil {
			return problem.List{problem.Error("Failed to update the lock file for modules", problem.Sentence(err))}
		}
	}
	if v.base == "." && v.result.Locks.Equal(v.dir.Locks) {
		return nil
	}
	if v.base == "." {
		v.view.Changed(depsfile.FileName)
	}
	if err := v.result.Locks.Save(v.in(depsfile.FileName), v.product); err != nil {
		return problem.List{problem.Error("Failed to update dependency lock file", problem.Sentence(err))}
	}
	return nil
}

// findPlaced finds out of which providers there are packages that vendor hasn't
// put there: they may exist nowhere else.
func (v *vendorRun) findPlaced() problem.List {
	there, err := v.providersThere(v.meta.Context)
	if err != nil {
		return problem.List{problem.Error("Failed to read what is vendored", problem.Sentence(err))}
	}
	v.placed = slices.DeleteFunc(there, func(p getproviders.Provider) bool { return slices.Contains(v.was.Providers, p) })
	return nil
}

// providersThere are those of which there is any package.
func (v *vendorRun) providersThere(ctx context.Context) ([]getproviders.Provider, error) {
	if info, err := os.Stat(filepath.FromSlash(vendored.PluginsDir)); err != nil || !info.IsDir() {
		return nil, nil
	}
	return (&getproviders.FilesystemMirrorSource{Dir: filepath.FromSlash(vendored.PluginsDir)}).Providers(ctx)
}

// withPlaced has what is placed come from where it is, and from nowhere else: so
// does an init in a clone.
func (v *vendorRun) withPlaced(all getproviders.MultiSource) getproviders.MultiSource {
	if len(v.placed) == 0 {
		return all
	}
	var patterns []getproviders.Pattern
	for _, p := range v.placed {
		patterns = append(patterns, getproviders.ExactPattern(p))
	}
	selectors := []getproviders.Selector{{
		Source: &getproviders.FilesystemMirrorSource{Dir: filepath.FromSlash(vendored.PluginsDir), Signers: v.net.Signers}, Include: patterns,
	}}
	for _, s := range all.Selectors {
		s.Exclude = slices.Concat(s.Exclude, patterns)
		selectors = append(selectors, s)
	}
	all.Selectors = selectors
	return all
}

// managed are the providers that vendor puts there.
func (v *vendorRun) managed() []getproviders.Provider {
	return slices.DeleteFunc(v.required.Providers(), func(p getproviders.Provider) bool {
		return p.IsBuiltIn() || slices.Contains(v.placed, p)
	})
}

// vendoredProviders are those that the record is to tell of: those that are
// needed, and those of earlier runs whose packages stay.
func (v *vendorRun) vendoredProviders() []getproviders.Provider {
	all := v.managed()
	if there, _ := v.providersThere(v.meta.Context); !v.opts.prune && v.base == "." {
		for _, p := range v.was.Providers {
			if slices.Contains(there, p) {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, getproviders.Provider.Compare)
	return slices.Compact(all)
}

// announce writes down, before any package is there, which providers are
// vendor's. Else a run after one that was killed would take them for placed
// ones, and ask no source for what is missing of them.
func (v *vendorRun) announce() problem.List {
	announced := slices.Concat(v.was.Providers, v.managed())
	missing := func(p getproviders.Provider) bool { return !slices.Contains(v.was.Providers, p) }
	if v.base != "." || !slices.ContainsFunc(announced, missing) {
		return nil
	}
	return v.saveProviders(announced)
}

// recall takes back what was announced, but for what came of it.
func (v *vendorRun) recall() problem.List {
	if v.base != "." {
		return nil
	}
	there, err := v.providersThere(context.WithoutCancel(v.meta.Context))
	if err != nil {
		return nil // it stays announced, which does no harm
	}
	there = slices.DeleteFunc(there, func(p getproviders.Provider) bool { return slices.Contains(v.placed, p) })
	if len(there) > 0 || v.wasVendored() {
		return v.saveProviders(there)
	}
	err = os.Remove(filepath.FromSlash(vendored.RecordName))
	_ = os.Remove(filepath.Dir(filepath.FromSlash(vendored.RecordName))) // unless something else is in it
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return problem.List{problem.Error("Failed to record what is vendored", problem.Sentence(err))}
	}
	return nil
}

// saveProviders writes the record as it was, but for the providers.
func (v *vendorRun) saveProviders(providers []getproviders.Provider) problem.List {
	record := v.was
	record.Providers = providers
	if err := record.Save("."); err != nil {
		return problem.List{problem.Error("Failed to record what is vendored", problem.Sentence(err))}
	}
	return nil
}
