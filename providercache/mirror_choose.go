package providercache

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// choose finds out which packages are wanted: each once, in order. The errors
// are those of providers without a version.
func (m *mirror) choose(ctx context.Context, wanted []MirrorWanted) (packages []mirrorPackage, errs []error) {
	found, failed := par.Map(ctx, m.dir.fetcher.Limits.WithDefaults().Queries, wanted, m.packagesOf)
	for i, err := range failed {
		if err != nil {
			errs = append(errs, resolve.Fail(ctx, m.dir.fetcher.Emit, wanted[i].Selected(), err))
		}
	}
	index := map[string]int{}
	for _, p := range slices.Concat(found...) {
		if i, ok := index[p.name]; ok {
			packages[i].recorded = append(packages[i].recorded, p.recorded...)
			continue
		}
		index[p.name] = len(packages)
		packages = append(packages, p)
	}
	slices.SortStableFunc(packages, func(a, b mirrorPackage) int {
		if by := a.Selection.Provider.Compare(b.Selection.Provider); by != 0 {
			return by
		}
		return a.Selection.Version.Compare(b.Selection.Version)
	})
	return packages, errs
}

// packagesOf are the packages that one wish comes to, in the order of platforms
// as they were asked for.
func (m *mirror) packagesOf(ctx context.Context, w MirrorWanted) (packages []mirrorPackage, err error) {
	selections, err := m.versionsOf(ctx, w)
	if err != nil {
		return nil, err
	}
	request := lockhashes.Request{Platforms: m.opts.Platforms, AllPlatforms: m.opts.AllPlatforms}
	for _, s := range selections {
		if err := cmp.Or(s.Provider.Validate(), s.Version.Validate()); err != nil {
			return nil, s.Failed(resolve.StepQuery, err)
		}
		platforms, err := lockhashes.PlatformsFor(ctx, m.dir.fetcher, request, s)
		if err != nil {
			return nil, s.Failed(resolve.StepMetadata, err)
		}
		for _, plat := range platforms {
			name := mirrorDir(s.Provider) + "/" + getproviders.PackedName(s.Provider, s.Version, plat)
			packages = append(packages, mirrorPackage{
				Mirrored: Mirrored{Selection: s, Platform: plat, Path: m.dir.path(name)}, name: name, recorded: slices.Clone(w.Hashes),
			})
		}
	}
	return packages, nil
}

// mirrorDir is where a mirror has a provider's packages and indexes.
func mirrorDir(p getproviders.Provider) string { return getproviders.ProviderPath(p) }

// versionsOf are the versions that one wish comes to.
func (m *mirror) versionsOf(ctx context.Context, w MirrorWanted) ([]resolve.Selection, error) {
	s := w.Selected()
	s.Locked = w.Locked
	switch {
	case w.Version != getproviders.Version{}:
		return []resolve.Selection{s}, nil
	case !w.AllVersions:
		newest, err := m.dir.fetcher.Resolver().Newest(ctx, s, []getproviders.Requirement{{Constraints: w.Constraints}})
		return []resolve.Selection{newest}, err
	}
	available, err := m.dir.fetcher.Source.Versions(ctx, s.Provider)
	if err != nil {
		return nil, s.Failed(resolve.StepQuery, err)
	}
	if len(available.Warnings) > 0 {
		m.dir.fetcher.Emit(ctx, event.WarningEvent{Addr: s.Provider, Warnings: available.Warnings})
	}
	var all []resolve.Selection
	for _, v := range available.Versions {
		if s.Version = v; s.Constraints.Allows(v) {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil, w.Selected().Failed(resolve.StepSelect, fmt.Errorf("%s has no version that %q allows", m.dir.fetcher.Source.Describe(s.Provider), s.Constraints))
	}
	return all, nil
}
