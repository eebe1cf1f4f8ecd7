package getproviders

import (
	"context"
	"net/http"
	"slices"
)

// PlatformLister is a Source that knows for which platforms there are packages
// of a version.
type PlatformLister interface {
	// Platforms returns them sorted. None means that the source doesn't tell:
	// the protocol of registries doesn't oblige them to. Errors are those of
	// Package.
	Platforms(ctx context.Context, p Provider, v Version) ([]Platform, error)
}

// PlatformsOf asks a source that may be a PlatformLister; one that isn't
// doesn't tell.
func PlatformsOf(ctx context.Context, s Source, p Provider, v Version) ([]Platform, error) {
	if lister, ok := s.(PlatformLister); ok {
		return lister.Platforms(ctx, p, v)
	}
	return nil, nil
}

// Platforms implements PlatformLister, from the list of versions.
func (s *RegistrySource) Platforms(ctx context.Context, p Provider, v Version) ([]Platform, error) {
	list, err := s.list(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, entry := range list.versions {
		if entry.version == v {
			return slices.Clone(entry.platforms), nil
		}
	}
	return nil, s.missing(ctx, p, v, CurrentPlatform())
}

// Platforms implements PlatformLister, from the document about the version.
func (s *NetworkMirrorSource) Platforms(ctx context.Context, p Provider, v Version) ([]Platform, error) {
	doc, err := s.ask(ctx, p, v.String()+".json")
	if err != nil {
		return nil, err
	}
	if doc.StatusCode == http.StatusNotFound {
		return nil, s.missing(ctx, p, v)
	}
	archives, err := decodeMirrorVersion(doc.Body)
	if err != nil {
		return nil, s.malformed(p, doc, err)
	}
	return archivePlatforms(archives), nil
}

// Platforms implements PlatformLister: those of the first source that has the
// version, in the order in which Package would ask.
func (m MultiSource) Platforms(ctx context.Context, p Provider, v Version) ([]Platform, error) {
	answers := m.unanswered(p)
	for i, selector := range m.Selectors {
		a := &answers[i]
		if a.Excluded != "" {
			continue
		}
		platforms, err := PlatformsOf(ctx, selector.Source, p, v)
		if err == nil {
			return platforms, nil
		}
		a.Asked, a.Err = true, err
		if m.ends(ctx, err) {
			break
		}
	}
	failed := m.report(p, answers)
	failed.Version = v
	return nil, failure(ctx, failed)
}

// Platforms implements PlatformLister, for sources that do.
func (m *memoized) Platforms(ctx context.Context, p Provider, v Version) ([]Platform, error) {
	return PlatformsOf(ctx, m.source, p, v)
}

// Platforms implements PlatformLister, from the names of files and directories.
func (s *FilesystemMirrorSource) Platforms(ctx context.Context, p Provider, v Version) ([]Platform, error) {
	found, err := s.packages(ctx, p)
	if err != nil {
		return nil, err
	}
	var platforms []Platform
	for _, m := range found {
		if m.version == v {
			platforms = append(platforms, m.platform)
		}
	}
	if len(platforms) == 0 {
		return nil, s.missing(p, v, Platform{}, found)
	}
	return sortPlatforms(platforms), nil
}
