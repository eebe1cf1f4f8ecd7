package command

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/modules/modulelock"
	"github.com/tfdeps/tfdeps/configs/modules/vendored"
	"github.com/tfdeps/tfdeps/configs/requirements"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// connect makes the sources: those of init, but for the directory that is to be
// filled.
func (r *vendorRun) connect() (problems view.Problems) {
	if r.cli, r.net, problems = r.online(r.product, ""); problems.HasErrors() {
		return problems
	}
	sources, err := r.sources(sourceOptions{network: r.net, cli: r.cli, product: r.product, vendored: vendored.PluginsDir})
	if err != nil {
		return append(problems, view.NewError("Can't search for providers", sentence(err)))
	}
	if problems = append(problems, r.findPlaced()...); problems.HasErrors() {
		return problems
	}
	if r.source = r.withPlaced(sources); r.cli.Installation != nil {
		problems = append(problems, view.NewWarning("The CLI configuration hides what is vendored",
			"It has a provider_installation block. With that, init installs from there alone, and doesn't look into "+vendored.PluginsDir+
				". Where there is no such block, a clone needs nothing else."))
	}
	return problems
}

// require finds out which providers are needed: as for init, those of the
// configuration and of the state, and where the state isn't known, those that
// somebody locked who may have seen it.
func (r *vendorRun) require() (problems view.Problems) {
	parts := requirements.Parts{Product: r.product, Tree: r.tree, StateUnknown: r.module.Backend != nil, Locks: r.locks}
	if !parts.StateUnknown {
		var err error
		if parts.State, _, err = r.readState(r.product, "", nil); err != nil {
			_, problems = r.tree.Requirements(r.product)
			return append(problems, view.NewError("Error loading state", sentence(err)))
		}
	}
	r.required, problems = r.combine(parts)
	return problems
}

// request is what is asked of the product.
func (r *vendorRun) request() providercache.LockRequest {
	request := providercache.LockRequest{Requirements: r.required, Locks: r.locks, Platforms: r.record.Platforms}
	if r.opts.upgrade {
		request.Upgrade = map[getproviders.Provider]getproviders.Version{}
		for _, p := range r.required.Providers() {
			request.Upgrade[p] = getproviders.Version{}
		}
	}
	return request
}

func (r *vendorRun) vendorOptions() providercache.VendorOptions {
	placed := r.placed
	if r.base != "." { // what isn't needed of these goes, too
		placed = slices.DeleteFunc(slices.Clone(placed), func(p getproviders.Provider) bool {
			_, required := r.required[p]
			return !required
		})
	}
	return providercache.VendorOptions{Dir: r.in(vendored.PluginsDir), Unpacked: r.record.Unpacked, Placed: placed, Prune: r.opts.prune || r.base != "."}
}

// vendorProviders has the product do the work.
func (r *vendorRun) vendorProviders() (problems view.Problems) {
	installer := providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: r.source, Client: r.net.Archives, Product: r.product, Observe: providercache.Observer(r.view.Observe), Now: r.Now, StateDir: r.StateDir, HashPolicy: r.opts.hashes},
	}
	if problems = r.announce(); problems.HasErrors() {
		return problems
	}
	var err error
	r.result, err = providercache.Vendor(r.Context, installer.Fetcher, r.vendorOptions(), r.request())
	problems = append(problems, r.view.End(providercache.MirrorResult{})...)
	r.view.Packages(r.result.Packages)
	if r.base == "." {
		for _, name := range r.result.Pruned {
			r.view.Removed(vendored.PluginsDir + "/" + name)
		}
	}
	if err != nil {
		return slices.Concat(problems, r.vendorProblems(err), r.recall())
	}
	r.record.Providers = r.vendoredProviders()
	return problems
}

// vendorProblems explains what went wrong with providers.
func (r *vendorRun) vendorProblems(err error) (problems view.Problems) {
	for _, p := range view.MirrorProblems(err) {
		if p.Summary == "Failed to write the mirror" {
			p.Summary = "Failed to vendor providers"
		}
		problems = append(problems, p)
	}
	if mismatch, ok := errors.AsType[*providercache.LockMismatchError](err); ok {
		problems = append(problems, view.NewError("The lock file speaks against a package", fmt.Sprintf(
			"If the package of %s is what you want, add its hashes to the lock file with \"tfdeps providers lock -from=config -platform=OS_ARCH %s\", and vendor again.",
			mismatch.Provider, mismatch.Provider)))
	}
	missing, ok := errors.AsType[*getproviders.PlatformMissingError](err)
	if ok && slices.Contains(r.placed, missing.Provider) {
		problems = append(problems, view.NewError("A package that isn't there can't be fetched", fmt.Sprintf(
			"%s has packages of %s of which %s says nothing: somebody has put them there, and init takes that provider from nowhere else. Put the missing package beside them; or remove them all, to have the provider fetched from where init would take it then.",
			vendored.PluginsDir, missing.Provider, vendored.RecordName)))
	}
	return problems
}

// saveLockFiles writes what is locked.
func (r *vendorRun) saveLockFiles() view.Problems {
	if r.modulesToLock != nil {
		if err := r.modulesToLock.Save(r.in(modulelock.FileName)); err != nil {
			return view.Problems{view.NewError("Failed to update the lock file for modules", sentence(err))}
		}
	}
	if r.base == "." && r.result.Locks.Equal(r.locks) {
		return nil
	}
	if r.base == "." {
		r.view.Changed(depsfile.FileName)
	}
	if err := r.result.Locks.Save(r.in(depsfile.FileName), r.product); err != nil {
		return view.Problems{view.NewError("Failed to update dependency lock file", sentence(err))}
	}
	return nil
}
