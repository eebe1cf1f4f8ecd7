package getproviders

import (
	"context"
	"slices"
)

// Offline replaces a source that may not be asked, because "by" forbids requests, such as "-offline". Versions lists
// the packages that came from that source earlier and are kept on this machine. Package describes none: callers that
// keep packages find them by their SourceURL. cached returns the known packages of one provider for one platform that
// are or were on this machine, wherever they came from.
//
// A package belongs to the source only if its SourceURL proves that without a request: the SourceURL of a mirror
// does, and that of a registry on the provider's own host or on one that the user's configuration names.
//
// Errors are *NotCachedError. It is no failure of a source: a MultiSource asks the next source.
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
	SourceURL    string // as in Package
	ArchiveBytes int64  // the size of its archive; 0 if unknown
	Present      bool   // it is still on this machine
}

// Versions implements Source: it returns the versions with a cached package.
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

// Describe implements Source. The name says that the source wasn't asked.
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

// ours returns the cached packages that came from the source.
func (s offlineSource) ours(ctx context.Context, p Provider) (ours []CachedPackage) {
	owns := s.source.Describe(p).Owns
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
