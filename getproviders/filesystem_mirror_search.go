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

// typeDirs returns the directories "host/namespace/type" of a provider: the one with exactly this
// name, or else all whose names mean the same provider.
func (s *FilesystemMirrorSource) typeDirs(p Provider) ([]string, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	root, err := s.root()
	if errors.Is(err, errNoDirectory) { // as in Terraform and OpenTofu, a mirror without packages
		missing := Subject{Source: s.Dir, Provider: p}.Missing()
		missing.Hint = "it is not a directory: name a directory that has packages in the layout of a filesystem mirror"
		return nil, missing
	}
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

// root returns Dir with its symlinks resolved, because Terraform and OpenTofu link to packages
// there: a symlink of Dir that is changed later doesn't change installed packages. A Dir that
// doesn't exist is an error, because the path may be mistyped.
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
		return s.Dir, nil // some Windows volumes can be used, but have no name
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

// platformsIn lists a directory if its name is a version.
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

// unpackedIn returns the path of an unpacked package below a directory "host/namespace/type". ok is
// false if no directory has exactly this name.
func unpackedIn(dir string, v Version, plat Platform) (path string, ok bool) {
	dir = filepath.Join(dir, v.String())
	path = filepath.Join(dir, plat.String())
	return path, isRealDir(dir) && isDir(path)
}

// Providers returns the providers that have a package in the mirror, in the order of
// Provider.Compare. Unlike the other methods it reads the whole tree. Errors match ErrUnreachable.
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

// walkMirror calls visit for each directory "host/namespace/type" whose name means the provider only, or for all if only is
// zero, until a call fails. It doesn't follow symlinks to directories.
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

// readDir is os.ReadDir, but returns no entries for a directory that was just removed.
func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unsearchable(dir, err)
	}
	return entries, nil
}

// isRealDir reports whether path is a directory, and not a symlink to one.
func isRealDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// isDir reports whether path is a directory or a symlink to one.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isFile reports whether path is a regular file or a symlink to one.
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
// with the host in Unicode and with its port. If a version and platform is there in both forms, the unpacked package counts.
// Names may have upper-case letters, and versions may be short ("1.0"); files and directories with other names are skipped. Dir
// itself, a platform's directory and an archive may be symlinks; symlinks in place of the directories between aren't followed. If
// a directory has exactly the right name, those with another spelling of the name are ignored; Terraform and OpenTofu combine
// them.
//
// The publisher of a package is unknown, unless the mirror has the version's checksum list, its signature and the keys beside the
// archives, as the mirrors of tfdeps do (terraform-provider-TYPE_VERSION_SHA256SUMS, and the same name with .sig and .keys.json
// behind it), and a key that counts has signed the list ([Signers]). Then an
// archive is authenticated as if it came from the registry, and all hashes of the list may go into a lock file. Terraform and
// OpenTofu read none of these files. Unpacked packages have the zero Trust. The source caches nothing, and reads only the one
// provider's directory, so a query takes as long in a large mirror as in a small one. An unreadable directory of that provider is
// an error; Terraform and OpenTofu, which read the whole tree, fail for any unreadable directory.
type FilesystemMirrorSource struct {
	Dir     string  // must exist; a file has no packages
	Signers Signers // whose signatures count for archives
}

// unsearchable returns the error for a mirror's directory that can't be searched.
func unsearchable(dir string, err error) error {
	failed := &Fault{Code: "source_directory", Kind: ErrUnreachable, Err: fmt.Errorf("cannot search %s: %w", dir, err)}
	if about, ok := errors.AsType[*fs.PathError](err); ok && about.Path == dir { // the message names it already
		failed.Err = fmt.Errorf("cannot search %s: %w", dir, about.Err)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		failed.Hint = "make the directory, or correct the path: it is that of an option such as -mirror or -plugin-dir, of TFDEPS_MIRROR, or of a filesystem_mirror block of the CLI configuration"
	case errors.Is(err, errNoDirectory):
		failed.Hint = "name a directory that has packages in the layout of a filesystem mirror"
	}
	return failed
}
