package getproviders

import (
	"context"
	"slices"
)

// Offline stands for a source that may not be asked, because that would
// take requests, which "by" forbids, such as "-offline". It lists the packages that came from that source earlier and
// are kept on this machine, and describes none: who keeps packages finds them
// by their SourceURL. cached tells what is known of packages on this machine, or was once: of one
// provider, for one platform, wherever they came from.
//
// A package counts as one of the source only where its SourceURL says so without a
// request: that of a mirror does, and so does that of a registry which is on the
// provider's own host, or where the user's configuration says.
//
// Errors are *NotCachedError. One is no failure of a source: in a MultiSource,
// the next source is asked.
func Offline(source Source, by string, cached func(Provider) []CachedPackage) Source {
	return offlineSource{source, cached, by}
}

type offlineSource struct {
	source Source
	cached func(Provider) []CachedPackage
	by     string
}

// CachedPackage is a package that was fetched earlier.
type CachedPackage struct {
	Version      Version
	SourceURL    string // as Package has it
	ArchiveBytes int64  // the size of its archive; 0: not known
	Present      bool   // it is still there
}

// Versions implements Source: the versions of which packages are there.
func (s offlineSource) Versions(ctx context.Context, p Provider) (Available, error) {
	var versions []Version
	for _, kept := range s.ours(ctx, p) {
		if kept.Present && !slices.Contains(versions, kept.Version) {
			versions = append(versions, kept.Version)
		}
	}
	if len(versions) == 0 {
		return Available{}, s.missing(p, Version{})
	}
	return Available{Versions: versions}, nil
}

// Package implements Source. It always fails.
func (s offlineSource) Package(_ context.Context, p Provider, v Version, _ Platform) (Package, error) {
	return Package{}, s.missing(p, v)
}

// Describe implements Source: it says that the source wasn't asked, too.
func (s offlineSource) Describe(p Provider) Description {
	return Description{
		Name:      s.source.Describe(p).Name + " (not asked, because of " + s.by + ")",
		SourceURL: s.sourceURL,
		Unasked:   []*NotCachedError{s.missing(p, Version{})},
	}
}

func (s offlineSource) sourceURL(ctx context.Context, p Provider, v Version, _ Platform) (string, error) {
	for _, kept := range s.ours(ctx, p) {
		if kept.Version == v && kept.Present {
			return kept.SourceURL, nil
		}
	}
	return "", s.missing(p, v)
}

// ours are the cached packages that came from the source.
func (s offlineSource) ours(ctx context.Context, p Provider) (ours []CachedPackage) {
	owns := s.source.Describe(p).owns
	if owns == nil {
		return nil
	}
	for _, kept := range s.cached(p) {
		if kept.SourceURL != "" && owns(ctx, p, kept.SourceURL) {
			ours = append(ours, kept)
		}
	}
	return ours
}

func (s offlineSource) missing(p Provider, v Version) *NotCachedError {
	failed := &NotCachedError{Provider: p, Version: v, Source: s.source.Describe(p).Name, By: s.by}
	for _, kept := range s.cached(p) {
		if kept.Version == v {
			failed.Bytes = max(failed.Bytes, kept.ArchiveBytes)
		}
	}
	return failed
}
