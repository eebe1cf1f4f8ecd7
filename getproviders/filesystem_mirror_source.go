package getproviders

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Versions implements Source: the versions that have a package for any
// platform. Errors match ErrProviderNotFound or ErrUnreachable.
func (s *FilesystemMirrorSource) Versions(ctx context.Context, p Provider) (Available, error) {
	found, err := s.packages(ctx, p)
	if err != nil {
		return Available{}, err
	}
	var versions []Version
	for _, m := range found {
		versions = append(versions, m.version)
	}
	slices.SortFunc(versions, Version.Compare)
	return Available{Versions: slices.Compact(versions)}, nil
}

// Package implements Source. Besides the errors of Versions there are
// those that match ErrVersionNotFound, and ErrPlatformMissing. The Location is a
// LocalDirectory or a LocalArchive below Dir, or below what Dir leads to if it
// is a link; relative if that is.
func (s *FilesystemMirrorSource) Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error) {
	if err := validate(p, v, plat); err != nil {
		return Package{}, err
	}
	result := Package{Provider: p, Version: v, Platform: plat, Source: s.Dir}
	dirs, err := s.typeDirs(p)
	if err != nil {
		return Package{}, err
	}
	for _, dir := range dirs {
		if path, ok := unpackedIn(dir, v, plat); ok {
			result.Location = LocalDirectory(path)
			return result, nil
		}
	}
	found, err := s.packages(ctx, p)
	if err != nil {
		return Package{}, err
	}
	for _, m := range found {
		if m.version == v && m.platform == plat {
			result.Location, result.SourceURL = m.location, fileURL(m.location)
			if archive, ok := m.location.(LocalArchive); ok {
				result.Trust = s.Signers.TrustIn(result, inDirectory(filepath.Dir(string(archive)))) // documents beside it
			}
			return result, nil
		}
	}
	return Package{}, s.missing(p, v, plat, found)
}

// missing says why a package is not among those that were found.
func (s *FilesystemMirrorSource) missing(p Provider, v Version, plat Platform, found []mirrored) error {
	var versions, fitting []Version
	var platforms []Platform
	for _, m := range found {
		versions = append(versions, m.version)
		if m.version == v {
			platforms = append(platforms, m.platform)
		}
		if m.platform == plat {
			fitting = append(fitting, m.version)
		}
	}
	if len(platforms) == 0 {
		return Subject{Source: s.Dir, Provider: p, Version: v, Newest: newestVersion(versions)}.Missing()
	}
	return Subject{Provider: p, Version: v, Platform: plat, Source: s.Dir, Platforms: sortPlatforms(platforms), Newest: newestVersion(fitting)}.Missing()
}

// Describe implements Source. The SourceURL is the archive's path, with its size and the time
// of its last change, because the owner of a mirror may put other packages into it
// under the same version. It is "" for a package that is unpacked.
func (s *FilesystemMirrorSource) Describe(Provider) Description {
	return Description{Name: s.Dir, SourceURL: s.sourceURL, Platforms: s.platforms}
}

// platforms goes by the names of files and directories.
func (s *FilesystemMirrorSource) platforms(ctx context.Context, p Provider, v Version) ([]Platform, error) {
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

func (s *FilesystemMirrorSource) sourceURL(ctx context.Context, p Provider, v Version, plat Platform) (string, error) {
	pkg, err := s.Package(ctx, p, v, plat)
	return pkg.SourceURL, err
}

// fileURL is the SourceURL of a package of a filesystem mirror.
func fileURL(at Location) string {
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
