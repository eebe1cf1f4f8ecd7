package mirror

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// choose returns the wanted packages, each once, in order. The
// errors are those of providers without a version.
func (m *run) choose(ctx context.Context, wanted []Spec) (packages []archivedir.Item, errs []error) {
	found, failed := par.Map(ctx, m.dir.Fetcher.Limits.Queries, wanted, m.packagesOf)
	for i, err := range failed {
		if err != nil {
			errs = append(errs, resolve.Fail(ctx, m.dir.Fetcher.Emit, wanted[i].Selected(), err))
		}
	}
	index := map[string]int{}
	for _, p := range slices.Concat(found...) {
		if i, ok := index[p.Name]; ok {
			packages[i].Recorded = append(packages[i].Recorded, p.Recorded...)
			packages[i].Listed = packages[i].Listed && p.Listed
			continue
		}
		index[p.Name] = len(packages)
		packages = append(packages, p)
	}
	slices.SortStableFunc(packages, func(a, b archivedir.Item) int {
		return cmp.Or(a.Provider.Compare(b.Provider), a.Version.Compare(b.Version))
	})
	return packages, errs
}

// packagesOf returns the packages of one Spec, with the platforms in the requested order.
func (m *run) packagesOf(ctx context.Context, w Spec) (packages []archivedir.Item, err error) {
	selections, err := m.versionsOf(ctx, w)
	if err != nil {
		return nil, err
	}
	request := lockhashes.Request{Platforms: m.opts.Platforms, AllPlatforms: m.opts.AllPlatforms}
	for _, s := range selections {
		if err := cmp.Or(s.Provider.Validate(), s.Version.Validate()); err != nil {
			return nil, s.Failed(during.Query, err)
		}
		platforms, err := lockhashes.PlatformsFor(ctx, m.dir.Fetcher, request, s)
		if err != nil {
			return nil, s.Failed(during.Metadata, err)
		}
		for _, plat := range platforms {
			name := archivedir.MirrorDir(s.Provider) + "/" + s.Provider.PackedName(s.Version, plat)
			packages = append(packages, archivedir.Item{
				Outcome:  event.Outcome{Selection: s, Platform: plat, Path: m.path(s, name)},
				Name:     name,
				Recorded: slices.Clone(w.Hashes),
				Listed:   w.isOneOfAll() || m.opts.AllPlatforms && !slices.Contains(m.opts.Platforms, plat),
			})
		}
	}
	return packages, nil
}

// isOneOfAll reports whether the source decides which versions the Spec means.
func (w Spec) isOneOfAll() bool { return w.AllVersions && w.Version.IsZero() }

// versionsOf returns the versions of one Spec.
func (m *run) versionsOf(ctx context.Context, w Spec) ([]getproviders.Selection, error) {
	s := w.Selected()
	s.Locked = w.Locked
	switch {
	case !w.Version.IsZero():
		return []getproviders.Selection{s}, nil
	case !w.AllVersions:
		required := w.Requirements
		if required == nil {
			required = []getproviders.Requirement{{Constraints: w.Constraints}}
		}
		newest, err := m.dir.Fetcher.Resolver().Newest(ctx, s, required)
		return []getproviders.Selection{newest}, err
	}
	available, err := m.dir.Fetcher.Source.Versions(ctx, s.Provider)
	if err != nil {
		return nil, s.Failed(during.Query, err)
	}
	warnings := slices.Concat(available.Warnings, available.PassedOver)
	if len(warnings) > 0 {
		m.dir.Fetcher.Emit(ctx, event.Event{Kind: event.Warning, Outcome: event.Outcome{Selection: s}, Warnings: warnings})
	}
	var all []getproviders.Selection
	for _, v := range available.Versions {
		if s.Version = v; s.Constraints.Allows(v) {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil, w.Selected().Failed(during.Select, fmt.Errorf("%s has no version that %q allows", m.dir.Fetcher.Source.Describe(s.Provider).Name, s.Constraints))
	}
	return all, nil
}
