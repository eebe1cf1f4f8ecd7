// Package files reads the files of a configuration: from the process's file system, or from an
// fs.FS, such as an editor's with unsaved buffers. All packages below configs that support an fs.FS
// read through it.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// System is the FS, or the file system of the process if FS is nil. In an FS, paths are relative to
// its root, and can't lead out of it.
type System struct{ fs.FS }

// List returns the entries of a directory, sorted by name.
func (s System) List(dir string) ([]fs.DirEntry, error) {
	if s.FS == nil {
		return os.ReadDir(dir)
	}
	name, err := wholefile.NameInFS("open", dir)
	if err != nil {
		return nil, err
	}
	return fs.ReadDir(s.FS, name)
}

// Read returns the content of a regular file that has at most max bytes.
func (s System) Read(path string, max int64) ([]byte, error) {
	return wholefile.ReadFS(s.FS, path, max)
}

// Stat describes a file or directory, following symlinks.
func (s System) Stat(path string) (fs.FileInfo, error) {
	if s.FS == nil {
		return os.Stat(path)
	}
	name, err := wholefile.NameInFS("stat", path)
	if err != nil {
		return nil, err
	}
	return fs.Stat(s.FS, name)
}

// IsDir reports whether a path is a directory, or a symlink to one.
func (s System) IsDir(path string) bool {
	info, err := s.Stat(path)
	return err == nil && info.IsDir()
}

// ErrNotRegular says that a path is a directory, a pipe or a device.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular opens a regular file. Others are ErrNotRegular: a pipe might block, and a device
// might have no end.
func (s System) OpenRegular(path string) (fs.File, error) {
	info, err := s.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is %w", path, ErrNotRegular)
	case s.FS == nil:
		return os.Open(path)
	}
	name, err := wholefile.NameInFS("open", path)
	if err != nil {
		return nil, err
	}
	return s.Open(name)
}

// EvalSymlinks returns the path of a file or directory with symlinks resolved, as
// [filepath.EvalSymlinks] does.
//
// An FS that isn't a [fs.ReadLinkFS] can't resolve symlinks: if a directory lists one on the way,
// that is an error.
func (s System) EvalSymlinks(path string) (string, error) {
	if s.FS == nil {
		return filepath.EvalSymlinks(path)
	}
	name, err := wholefile.NameInFS("stat", path)
	if err != nil {
		return "", err
	}
	found, err := s.follow(name)
	return filepath.FromSlash(found), err
}

// Physical is EvalSymlinks of an absolute path, if the system has absolute paths.
func (s System) Physical(path string) (string, error) {
	if s.FS == nil {
		full, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		path = full
	}
	return s.EvalSymlinks(path)
}

var errOutside = errors.New("it isn't in the package of the module that asks for it, and what comes from elsewhere reads no other files of this machine")

// Confine returns the path of a file of a foreign module with symlinks resolved. It is an error if that is outside of
// within, the module's package, whether or not the file exists. Without within, it returns the path as it is.
func (s System) Confine(within, name string) (string, error) {
	if within == "" {
		return name, nil
	}
	if !IsWithin(within, name) {
		return "", errOutside
	}
	within, err := s.EvalSymlinks(within)
	if err != nil {
		return "", errOutside
	}
	real, err := s.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		return name, nil
	}
	if err != nil || !IsWithin(within, real) {
		return "", errOutside
	}
	return real, nil
}

// maxLinks is how many symlinks a path may lead through; more count as a cycle.
const maxLinks = 255

// follow resolves the parts of a path one by one. The resolved part has no symlinks, so that ".."
// is its parent directory.
func (s System) follow(name string) (string, error) {
	at, rest := ".", strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		next := path.Join(at, part)
		switch {
		case part == "" || part == ".":
			continue
		case !fs.ValidPath(next):
			return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
		case part == "..":
			at = next
			continue
		}
		target, err := s.readLink(next)
		switch {
		case err != nil:
			return "", err
		case target == "":
			at = next
			continue
		}
		target = filepath.ToSlash(target)
		if links++; links > maxLinks || path.IsAbs(target) || filepath.IsAbs(target) {
			return "", &fs.PathError{Op: "readlink", Path: next, Err: fs.ErrInvalid}
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at, nil
}

// readLink returns the target of a symlink, or "" for anything else.
func (s System) readLink(name string) (string, error) {
	if links, ok := s.FS.(fs.ReadLinkFS); ok {
		info, err := links.Lstat(name)
		if err != nil || info.Mode().Type() != fs.ModeSymlink {
			return "", err
		}
		return links.ReadLink(name)
	}
	if _, err := fs.Stat(s.FS, name); err != nil {
		return "", err
	}
	entries, err := fs.ReadDir(s.FS, path.Dir(name))
	for _, entry := range entries {
		if entry.Name() == path.Base(name) && entry.Type() == fs.ModeSymlink {
			return "", &fs.PathError{Op: "readlink", Path: name, Err: errors.ErrUnsupported}
		}
	}
	return "", err
}

// IsWithin reports whether a path is dir or below it, by their names alone.
func IsWithin(dir, name string) bool {
	if filepath.IsAbs(dir) != filepath.IsAbs(name) {
		var err error
		if dir, err = filepath.Abs(dir); err != nil {
			return false
		}
		if name, err = filepath.Abs(name); err != nil {
			return false
		}
	}
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}
