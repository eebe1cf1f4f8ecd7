package getproviders

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
)

// FilesystemMirrorSource installs from a directory of packages, unpacked in
//
//	host/namespace/type/version/os_arch/
//
// or packed as
//
//	host/namespace/type/terraform-provider-TYPE_VERSION_OS_ARCH.zip
//
// with the host in Unicode and with its port. Of two packages for the same
// version and platform the unpacked one counts. Names may be written in another
// case, and versions short ("1.0"); what isn't named like a part of this layout
// is passed over. Dir itself, a platform's directory and an archive may be
// links; links in place of the directories between are not followed. Where a
// directory is named exactly as it should be, those that are named otherwise
// and mean the same are not looked for; the real tools unite them.
//
// Nothing is known about who made the packages, unless the mirror keeps a
// version's checksum list beside its archives, with the signature and the keys,
// as our own mirrors do ([ChecksumsName]), and a key that counts has signed it
// ([Signers]): then an archive is judged as if it came from the registry, and all
// hashes of the list may go into a lock file; the real tools look at none of these
// files. Unpacked packages have no Trust. Nothing is remembered, and only the one provider's directory is listed, so that a
// query costs the same in a small mirror and a large one. A directory of that
// provider that can't be read is an error; to the real tools, which read the
// whole tree, any directory is.
type FilesystemMirrorSource struct {
	Dir     string  // has to exist
	Signers Signers // who may vouch for archives
}

// Versions implements Source: the versions that have a package for any
// platform. Errors are *ProviderNotFoundError or *SearchError.
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
// *VersionNotFoundError and *PlatformMissingError. The Location is a
// LocalDirectory or a LocalArchive below Dir, or below what Dir leads to if it
// is a link; relative if that is.
func (s *FilesystemMirrorSource) Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error) {
	result := Package{Provider: p, Version: v, Platform: plat, Source: s.Describe(p)}
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
			result.Location, result.Origin = m.location, fileOrigin(m.location)
			result.Trust = s.trust(p, v, plat, m.location)
			return result, nil
		}
	}
	return Package{}, s.missing(p, v, plat, found)
}

// trust is what an archive is judged by: documents beside it.
func (s *FilesystemMirrorSource) trust(p Provider, v Version, plat Platform, at Location) Trust {
	archive, ok := at.(LocalArchive)
	if !ok {
		return nil
	}
	return &mirrorTrust{fileName: PackedName(p, v, plat), documents: func(context.Context) (*vouchedChecksums, error) {
		d, ok, _ := readDocuments(p, v, inDirectory(filepath.Dir(string(archive))), s.Signers.needsKeys) // it has no errors
		if !ok {
			return nil, nil
		}
		return s.Signers.vouched(p, s.Dir, d)
	}}
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
		return &VersionNotFoundError{Provider: p, Version: v, Source: s.Dir, Newest: newestVersion(versions)}
	}
	return &PlatformMissingError{
		Provider:  p,
		Version:   v,
		Platform:  plat,
		Source:    s.Dir,
		Platforms: sortPlatforms(platforms),
		Newest:    newestVersion(fitting),
	}
}

// Describe implements Source.
func (s *FilesystemMirrorSource) Describe(Provider) string { return s.Dir }

// SearchError says that a mirror's directory can't be searched. It matches
// ErrUnreachable, and the file system's error.
type SearchError struct {
	Dir string
	Err error
}

// Error implements error.
func (e *SearchError) Error() string { return fmt.Sprintf("cannot search %s: %v", e.Dir, e.Err) }

// Unwrap returns ErrUnreachable and the cause.
func (e *SearchError) Unwrap() []error { return []error{ErrUnreachable, e.Err} }
