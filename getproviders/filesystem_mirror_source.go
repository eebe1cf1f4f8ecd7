package getproviders

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Versions implements Source: it returns the versions that have a package for any platform. Errors
// match ErrProviderNotFound or ErrUnreachable.
func (s *FilesystemMirrorSource) Versions(ctx context.Context, p Provider) (Available, error) {
	found, err := s.packages(ctx, p)
	if err != nil {
		return Available{}, err
	}
	return Available{Versions: byVersion(found).Versions}, nil
}

// Package implements Source. Errors are those of Versions, and match ErrVersionNotFound or
// ErrPlatformMissing, too. The Location is a LocalDirectory or a LocalArchive below Dir with its
// symlinks resolved; relative if Dir is.
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
	return Package{}, byVersion(found).lacks(ctx, Subject{Source: s.Dir, Provider: p, Version: v, Platform: plat})
}

// byVersion returns the sorted versions of packages, each with its platforms.
func byVersion(found []mirrored) Available {
	list := Available{Details: map[Version]Listed{}}
	for _, m := range found {
		list.Versions = append(list.Versions, m.version)
		list.Details[m.version] = Listed{Platforms: sortPlatforms(append(list.Details[m.version].Platforms, m.platform))}
	}
	slices.SortFunc(list.Versions, Version.Compare)
	list.Versions = slices.Compact(list.Versions)
	return list
}

// Describe implements Source. The SourceURL is the archive's path, with its size and modification
// time, because the owner of a mirror may replace packages of the same version. It is "" for an
// unpacked package.
func (s *FilesystemMirrorSource) Describe(Provider) Description {
	return Description{Name: s.Dir, SourceURL: s.sourceURL, Platforms: s.platforms, RulesOut: s.rulesOut}
}

func (s *FilesystemMirrorSource) rulesOut(ctx context.Context, p Provider, v Version) error {
	_, err := s.platforms(ctx, p, v)
	return err
}

// platforms reads the names of files and directories only.
func (s *FilesystemMirrorSource) platforms(ctx context.Context, p Provider, v Version) ([]Platform, error) {
	found, err := s.packages(ctx, p)
	if err != nil {
		return nil, err
	}
	list := byVersion(found)
	if of, ok := list.Details[v]; ok {
		return of.Platforms, nil
	}
	return nil, list.lacks(ctx, Subject{Source: s.Dir, Provider: p, Version: v})
}

func (s *FilesystemMirrorSource) sourceURL(ctx context.Context, p Provider, v Version, plat Platform) (string, error) {
	pkg, err := s.Package(ctx, p, v, plat)
	return pkg.SourceURL, err
}

// fileURL returns the SourceURL of a package in a filesystem mirror.
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
