package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/modules/vendored"
	"github.com/tfdeps/tfdeps/getproviders"
)

// findPlaced finds out of which providers there are packages that vendor hasn't
// put there: they may exist nowhere else.
func (r *vendorRun) findPlaced() view.Problems {
	there, err := r.providersThere(r.Context)
	if err != nil {
		return view.Problems{view.NewError("Failed to read what is vendored", sentence(err))}
	}
	r.placed = slices.DeleteFunc(there, func(p getproviders.Provider) bool { return slices.Contains(r.was.Providers, p) })
	return nil
}

// providersThere are those of which there is any package.
func (r *vendorRun) providersThere(ctx context.Context) ([]getproviders.Provider, error) {
	if info, err := os.Stat(filepath.FromSlash(vendored.PluginsDir)); err != nil || !info.IsDir() {
		return nil, nil
	}
	return (&getproviders.FilesystemMirrorSource{Dir: filepath.FromSlash(vendored.PluginsDir)}).Providers(ctx)
}

// withPlaced has what is placed come from where it is, and from nowhere else: so
// does whoever initializes a clone.
func (r *vendorRun) withPlaced(sources getproviders.MultiSource) getproviders.MultiSource {
	if len(r.placed) == 0 {
		return sources
	}
	var patterns []getproviders.Pattern
	for _, p := range r.placed {
		patterns = append(patterns, getproviders.ExactPattern(p))
	}
	all := []getproviders.Selector{{
		Source: &getproviders.FilesystemMirrorSource{Dir: filepath.FromSlash(vendored.PluginsDir), Signers: r.net.signers}, Include: patterns,
	}}
	for _, s := range sources.Selectors {
		s.Exclude = slices.Concat(s.Exclude, patterns)
		all = append(all, s)
	}
	sources.Selectors = all
	return sources
}

// ours are the providers that vendor is going to put there.
func (r *vendorRun) ours() []getproviders.Provider {
	return slices.DeleteFunc(r.required.Providers(), func(p getproviders.Provider) bool {
		return p.IsBuiltIn() || slices.Contains(r.placed, p)
	})
}

// vendoredProviders are those that the record is to tell of: those that are
// needed, and those of earlier runs whose packages stay.
func (r *vendorRun) vendoredProviders() []getproviders.Provider {
	all := r.ours()
	if there, _ := r.providersThere(r.Context); !r.opts.prune && r.base == "." {
		for _, p := range r.was.Providers {
			if slices.Contains(there, p) {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, getproviders.Provider.Compare)
	return slices.Compact(all)
}

// announce writes down, before any package is there, which providers are
// going to be ours. Else a run after one that was killed would take them for placed
// ones, and ask nobody for what is missing of them.
func (r *vendorRun) announce() view.Problems {
	announced := slices.Concat(r.was.Providers, r.ours())
	missing := func(p getproviders.Provider) bool { return !slices.Contains(r.was.Providers, p) }
	if r.base != "." || !slices.ContainsFunc(announced, missing) {
		return nil
	}
	return r.saveProviders(announced)
}

// recall takes back what was announced, but for what came of it.
func (r *vendorRun) recall() view.Problems {
	if r.base != "." {
		return nil
	}
	there, err := r.providersThere(context.WithoutCancel(r.Context))
	if err != nil {
		return nil // it stays announced, which does no harm
	}
	there = slices.DeleteFunc(there, func(p getproviders.Provider) bool { return slices.Contains(r.placed, p) })
	if len(there) > 0 || r.wasVendored() {
		return r.saveProviders(there)
	}
	err = os.Remove(filepath.FromSlash(vendored.RecordName))
	_ = os.Remove(filepath.Dir(filepath.FromSlash(vendored.RecordName))) // unless something else is in it
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return view.Problems{view.NewError("Failed to record what is vendored", sentence(err))}
	}
	return nil
}

// saveProviders writes the record as it was, but for the providers.
func (r *vendorRun) saveProviders(providers []getproviders.Provider) view.Problems {
	record := r.was
	record.Providers = providers
	if err := record.Save("."); err != nil {
		return view.Problems{view.NewError("Failed to record what is vendored", sentence(err))}
	}
	return nil
}
