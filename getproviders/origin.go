package getproviders

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// Originator is a Source that can say where a package would come from without
// asking for the package. Whoever keeps packages, and remembers the Origin of
// each, can tell by it whether one that is kept is the one that Package would
// describe now.
type Originator interface {
	// Origin returns what Package would return as the Package's Origin. It may
	// list versions, and asks for nothing else; where that isn't enough, it
	// returns "". The errors are those of Package. An origin that is wrong in
	// rare cases, because a source lists what it then lacks, is one that no
	// package has been remembered by.
	Origin(ctx context.Context, p Provider, v Version, plat Platform) (string, error)
}

// originOf asks a source that may not be an Originator: then nothing is said
// of the origin of what it has.
func originOf(ctx context.Context, s Source, p Provider, v Version, plat Platform) (string, error) {
	if originator, ok := s.(Originator); ok {
		return originator.Origin(ctx, p, v, plat)
	}
	available, err := s.Versions(ctx, p)
	if err == nil && !slices.Contains(available.Versions, v) {
		err = &VersionNotFoundError{Provider: p, Version: v, Source: s.Describe(p), Newest: newestVersion(available.Versions)}
	}
	return "", err
}

// Origin implements Originator: the base URL of the provider's registry, which
// says more than the registry's name where that one moves, or is redirected by
// the user.
func (s *RegistrySource) Origin(ctx context.Context, p Provider, v Version, plat Platform) (string, error) {
	list, err := s.list(ctx, p)
	if err != nil {
		return "", err
	}
	for _, entry := range list.versions {
		if entry.version == v && (len(entry.platforms) == 0 || slices.Contains(entry.platforms, plat)) {
			base, err := s.service(ctx, p)
			return hosts.RedactURL(base), err
		}
	}
	return "", s.missing(ctx, p, v, plat)
}

// Origin implements Originator: the mirror's base URL.
func (s *NetworkMirrorSource) Origin(ctx context.Context, p Provider, v Version, _ Platform) (string, error) {
	index, err := s.index(ctx, p)
	switch {
	case err != nil:
		return "", err
	case index.missing:
		return "", causeOr(ctx, s.notFound(p, index))
	case !slices.Contains(index.versions, v):
		return "", s.missing(ctx, p, v)
	}
	return hosts.RedactURL(s.base), nil
}

// Origin implements Originator: the archive's path, with its size and the time
// of its last change, because whoever has a mirror of his own may put other
// packages into it under the same version. It is "" for a package that is
// unpacked.
func (s *FilesystemMirrorSource) Origin(ctx context.Context, p Provider, v Version, plat Platform) (string, error) {
	pkg, err := s.Package(ctx, p, v, plat)
	return pkg.Origin, err
}

// fileOrigin is the origin of a package of a filesystem mirror.
func fileOrigin(at Location) string {
	archive, ok := at.(LocalArchive)
	if !ok {
		return ""
	}
	path, err := filepath.Abs(string(archive))
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s (%d bytes, %d)", path, info.Size(), info.ModTime().UnixNano())
}

// Origin implements Originator: that of the first source that lists the
// version, in the order in which Package would ask.
func (m MultiSource) Origin(ctx context.Context, p Provider, v Version, plat Platform) (string, error) {
	answers := m.unanswered(p)
	for i, selector := range m.Selectors {
		a := &answers[i]
		if a.Excluded != "" {
			continue
		}
		origin, err := originOf(ctx, selector.Source, p, v, plat)
		if err == nil {
			return origin, nil
		}
		a.Asked, a.Err = true, err
		if m.ends(ctx, err) {
			break
		}
	}
	failed := m.report(p, answers)
	failed.Version, failed.Platform = v, plat
	return "", failure(ctx, failed)
}

// Origin implements Originator, for sources that do.
func (m *memoized) Origin(ctx context.Context, p Provider, v Version, plat Platform) (string, error) {
	if originator, ok := m.source.(Originator); ok {
		return originator.Origin(ctx, p, v, plat)
	}
	return originOf(ctx, unoriginated{m}, p, v, plat)
}

// unoriginated hides what else a source can do.
type unoriginated struct{ Source }
