package getproviders

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// Providers lists the providers that the mirror has any package of, in the
// order of Provider.Compare. Unlike the other methods it reads the whole tree.
// Errors are *SearchError.
func (s *FilesystemMirrorSource) Providers(ctx context.Context) ([]Provider, error) {
	root, err := s.root()
	if err != nil {
		return nil, err
	}
	found := make(map[Provider]bool)
	err = walkMirror(root, func(p Provider, dir string) error {
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

// walkMirror visits every directory "host/namespace/type" until a visit fails.
func walkMirror(root string, visit func(p Provider, dir string) error) error {
	hostDirs, err := namedDirs(root, hosts.ParseHostname)
	if err != nil {
		return err
	}
	for _, host := range hostDirs {
		namespaces, err := namedDirs(host.path, parseNamespace)
		if err != nil {
			return err
		}
		for _, namespace := range namespaces {
			if namespace.name == legacyNamespace && host.name != DefaultHost {
				continue
			}
			types, err := namedDirs(namespace.path, NormalizePart)
			if err != nil {
				return err
			}
			for _, typ := range types {
				p := Provider{Hostname: host.name, Namespace: namespace.name, Type: typ.name}
				if err := visit(p, typ.path); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// namedDir is a directory and what its name means.
type namedDir[T any] struct {
	path string
	name T
}

// namedDirs returns the directories in dir, and not links to directories,
// whose names parse.
func namedDirs[T any](dir string, parse func(string) (T, error)) ([]namedDir[T], error) {
	entries, err := readDir(dir)
	if err != nil {
		return nil, err
	}
	var found []namedDir[T]
	for _, entry := range entries {
		if name, err := parse(entry.Name()); err == nil && entry.IsDir() {
			found = append(found, namedDir[T]{filepath.Join(dir, entry.Name()), name})
		}
	}
	return found, nil
}

// readDir is os.ReadDir, but a directory that has just been removed is empty.
func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &SearchError{Dir: dir, Err: err}
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
