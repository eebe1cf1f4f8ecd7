package getproviders

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// mirrored is a package in a mirror.
type mirrored struct {
	version  Version
	platform Platform
	location Location
}

// packages returns all packages of a provider, the unpacked ones first.
func (s *FilesystemMirrorSource) packages(ctx context.Context, p Provider) ([]mirrored, error) {
	dirs, err := s.typeDirs(p)
	if err != nil {
		return nil, err
	}
	var unpacked, packed []mirrored
	for _, dir := range dirs {
		u, z, err := packagesIn(ctx, dir, p.Type)
		if err != nil {
			return nil, err
		}
		unpacked, packed = append(unpacked, u...), append(packed, z...)
	}
	if len(unpacked)+len(packed) == 0 {
		return nil, Subject{Source: s.Dir, Provider: p}.Missing()
	}
	return append(unpacked, packed...), nil
}

// typeDirs returns the directories "host/namespace/type" of a provider: the one
// that is named exactly so, or else all whose names mean the same.
func (s *FilesystemMirrorSource) typeDirs(p Provider) ([]string, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	root, err := s.root()
	if err != nil {
		return nil, err
	}
	dir := root
	names := []string{p.Hostname.String(), p.Namespace, p.Type}
	for len(names) > 0 && isRealDir(filepath.Join(dir, names[0])) {
		dir, names = filepath.Join(dir, names[0]), names[1:]
	}
	if len(names) == 0 {
		return []string{dir}, nil
	}
	var dirs []string
	err = walkMirror(root, p, func(_ Provider, dir string) error {
		dirs = append(dirs, dir)
		return nil
	})
	return dirs, err
}

var errNoDirectory = errors.New("it is not a directory")

// root returns Dir without links, as Terraform and OpenTofu link to packages there: who
// points a link elsewhere doesn't change what is installed already. It makes a
// mirror that isn't there an error, which is what a mistyped path deserves.
func (s *FilesystemMirrorSource) root() (string, error) {
	info, err := os.Stat(s.Dir)
	if err == nil && !info.IsDir() {
		err = errNoDirectory
	}
	if err != nil {
		return "", unsearchable(s.Dir, err)
	}
	root, err := filepath.EvalSymlinks(s.Dir)
	if err != nil {
		return s.Dir, nil // some volumes of Windows can be used, but not be named
	}
	return root, nil
}

// packagesIn lists a directory "host/namespace/type".
func packagesIn(ctx context.Context, dir, typ string) (unpacked, packed []mirrored, err error) {
	entries, err := readDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range entries {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		path := filepath.Join(dir, entry.Name())
		if entry.IsDir() {
			found, err := platformsIn(path)
			if err != nil {
				return nil, nil, err
			}
			unpacked = append(unpacked, found...)
		} else if v, plat, ok := (Provider{Type: typ}).ParsePackedName(entry.Name()); ok && isFile(path) {
			packed = append(packed, mirrored{v, plat, LocalArchive(path)})
		}
	}
	return unpacked, packed, nil
}

// platformsIn lists a directory that may be a version's.
func platformsIn(dir string) ([]mirrored, error) {
	v, err := ParseVersion(filepath.Base(dir))
	if err != nil {
		return nil, nil
	}
	entries, err := readDir(dir)
	if err != nil {
		return nil, err
	}
	var found []mirrored
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if plat, err := ParsePlatform(entry.Name()); err == nil && isDir(path) {
			found = append(found, mirrored{v, plat, LocalDirectory(path)})
		}
	}
	return found, nil
}

// unpackedIn returns the place of an unpacked package in a directory
// "host/namespace/type", if there is one that is named exactly so.
func unpackedIn(dir string, v Version, plat Platform) (path string, ok bool) {
	dir = filepath.Join(dir, v.String())
	path = filepath.Join(dir, plat.String())
	return path, isRealDir(dir) && isDir(path)
}

// Providers lists the providers that the mirror has any package of, in the
// order of Provider.Compare. Unlike the other methods it reads the whole tree.
// Errors match ErrUnreachable.
func (s *FilesystemMirrorSource) Providers(ctx context.Context) ([]Provider, error) {
	root, err := s.root()
	if err != nil {
		return nil, err
	}
	found := make(map[Provider]bool)
	err = walkMirror(root, Provider{}, func(p Provider, dir string) error {
		if p.Namespace == legacyNamespace && p.Hostname != defaultHost {
			return nil
		}
		unpacked, packed, err := packagesIn(ctx, dir, p.Type)
		if len(unpacked)+len(packed) > 0 {
			found[p] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Keys(found), Provider.Compare), nil
}

// walkMirror visits the directories "host/namespace/type" whose names mean a provider, or all if that is zero, until a visit
// fails. Links to directories are not followed.
func walkMirror(root string, only Provider, visit func(p Provider, dir string) error) error {
	var below func(dir string, p Provider, level int) error
	below = func(dir string, p Provider, level int) error {
		if level == 3 {
			return visit(p, dir)
		}
		entries, err := readDir(dir)
		for _, entry := range entries {
			at, wanted := p, only == (Provider{})
			var unfit error
			switch name := entry.Name(); level {
			case 0:
				at.Hostname, unfit = hosts.ParseHostname(name)
				wanted = wanted || at.Hostname == only.Hostname
			case 1:
				at.Namespace, unfit = parseNamespace(name)
				wanted = wanted || at.Namespace == only.Namespace
			default:
				at.Type, unfit = NormalizePart(name)
				wanted = wanted || at.Type == only.Type
			}
			if err == nil && unfit == nil && wanted && entry.IsDir() {
				err = below(filepath.Join(dir, entry.Name()), at, level+1)
			}
		}
		return err
	}
	return below(root, Provider{}, 0)
}

// readDir is os.ReadDir, but a directory that has just been removed is empty.
func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unsearchable(dir, err)
	}
	return entries, nil
}

// isRealDir reports whether there is a directory, and not a link to one.
func isRealDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// isDir reports whether there is a directory or a link to one.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isFile reports whether there is a regular file or a link to one.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

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
// is skipped. Dir itself, a platform's directory and an archive may be
// links; links in place of the directories between are not followed. Where a
// directory is named exactly as it should be, those that are named otherwise
// and mean the same are not looked for; Terraform and OpenTofu unite them.
//
// Nothing is known about who made the packages, unless the mirror keeps a
// version's checksum list beside its archives, with the signature and the keys,
// as the mirrors of tfdeps do ([layout.ChecksumsName]), and a key that counts has signed it
// ([Signers]): then an archive is authenticated as if it came from the registry, and all
// hashes of the list may go into a lock file; Terraform and OpenTofu look at none of these
// files. Unpacked packages have the zero Trust. Nothing is remembered, and only the one provider's directory is listed, so that a
// query costs the same in a small mirror and a large one. A directory of that
// provider that can't be read is an error; to Terraform and OpenTofu, which read the
// whole tree, any directory is.
type FilesystemMirrorSource struct {
	Dir     string  // has to exist
	Signers Signers // whose signatures count for archives
}

// unsearchable says that a mirror's directory can't be searched.
func unsearchable(dir string, err error) error {
	failed := &Fault{Code: "source_directory", Kind: ErrUnreachable, Err: fmt.Errorf("cannot search %s: %w", dir, err)}
	if about, ok := errors.AsType[*fs.PathError](err); ok && about.Path == dir { // which is named already
		failed.Err = fmt.Errorf("cannot search %s: %w", dir, about.Err)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		failed.Hint = "make the directory, or correct the path: it is that of a filesystem_mirror block of the CLI configuration, or of an option"
	case errors.Is(err, errNoDirectory):
		failed.Hint = "name a directory that has packages in the layout of a filesystem mirror"
	}
	return failed
}
