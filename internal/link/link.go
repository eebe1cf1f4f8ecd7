// Package link puts a package that is in one directory into another one, by the best
// of several ways: a symbolic link, clones of its files, hard links or copies.
//
//	used, reason, err := link.Tree(ctx, cached, target, []link.Mode{link.Hardlink, link.Copy})
//
// What goes in: an existing directory, a path at which nothing exists, and the modes
// that may be used, best first. What comes out: the mode that worked, why the modes
// before it didn't, and a tree whose files have the content and the modes of the
// original. After an error there is nothing at the path. [ParseMode] reads a mode
// from a setting.
package link

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/patient"
)

// Mode says how a package gets from a cache into a working directory.
type Mode int

// The modes. With the zero value the Installer chooses.
const (
	Auto     Mode = iota
	Symlink       // a symbolic link to the package's directory, absolute, as Terraform and OpenTofu make it
	Clone         // copies that share their blocks until one is changed, on file systems that can (btrfs, XFS, APFS)
	Hardlink      // the same files under further names: a write to one changes all
	Copy          // copies
)

var modeNames = []string{"auto", "symlink", "clone", "hardlink", "copy"}

// String returns the mode as ParseMode reads it.
func (m Mode) String() string {
	if m < 0 || int(m) >= len(modeNames) {
		return fmt.Sprintf("LinkMode(%d)", int(m))
	}
	return modeNames[m]
}

// ParseMode reads "auto", "symlink", "clone", "hardlink" or "copy".
func ParseMode(given string) (Mode, error) {
	if mode := slices.Index(modeNames, given); mode >= 0 {
		return Mode(mode), nil
	}
	return Auto, fmt.Errorf("%q is none of auto, symlink, clone, hardlink and copy", given)
}

// ErrChangedByOthers says why there is no symbolic link: what is verified now could be another program later.
var ErrChangedByOthers = errors.New("other users can change what is there")

// Order returns the modes by which packages, directories below a cache, are put elsewhere, best first. What is asked for comes first.
// With Auto that is a symbolic link from a cache that is shared with Terraform, as Terraform makes it; from tfdeps' own cache,
// and where other users can change what a link would lead to, it is what makes files in the other place. In the latter
// case reason says so; it matches ErrChangedByOthers.
func Order(asked Mode, cache string, shared bool, packages ...string) (modes []Mode, reason error) {
	switch {
	case asked != Auto:
		return []Mode{asked, Copy}, nil
	case shared:
		path := owner.ChangedByOthers(cache, packages...)
		if path == "" {
			return []Mode{Symlink, Copy}, nil
		}
		reason = fmt.Errorf("%s: %w", path, ErrChangedByOthers)
	}
	return []Mode{Clone, Hardlink, Copy}, reason
}

// ErrNotOwnFile says that a file can't be hard-linked, because other users own it or
// can write to it.
var ErrNotOwnFile = errors.New("only a file of this user's own that no other user can write to can be given another name")

// Tree makes the package in the directory from available at to, which must not
// exist, and which no other process may use yet. It tries the modes in their order
// and uses the first that is possible; reason joins why those before it weren't,
// nil if there were none. With an error there is nothing at to.
//
// Existing files are never written to. Clones and copies get the permissions of
// the original; symbolic links inside the package become the files that they lead
// to, because the copy has to have the hash of the original.
func Tree(ctx context.Context, from, to string, modes []Mode) (used Mode, reason, err error) {
	source, err := filepath.Abs(from)
	if err != nil {
		return Auto, nil, err
	}
	if info, err := os.Stat(source); err != nil { // os.Symlink would make a link to nothing
		return Auto, nil, err
	} else if !info.IsDir() {
		return Auto, nil, fmt.Errorf("%s is not a directory", source)
	}
	var failed []error
	for _, mode := range modes {
		err := linkBy(ctx, mode, source, to)
		if err == nil {
			return mode, errors.Join(failed...), nil
		}
		if leftover := patient.RemoveAll(to); ctx.Err() != nil || leftover != nil {
			return Auto, errors.Join(failed...), errors.Join(err, leftover)
		}
		failed = append(failed, fmt.Errorf("%s: %w", mode, err))
	}
	if len(failed) == 0 {
		return Auto, nil, errors.New("no way of linking is allowed")
	}
	last := len(failed) - 1
	return Auto, errors.Join(failed[:last]...), failed[last]
}

func linkBy(ctx context.Context, mode Mode, from, to string) error {
	switch mode {
	case Symlink:
		return Dir(from, to)
	case Clone:
		return makeTree(ctx, from, to, false, cloneFile)
	case Hardlink:
		return makeTree(ctx, from, to, false, hardLink)
	case Copy:
		return CopyTree(ctx, from, to, false)
	default:
		return errors.ErrUnsupported
	}
}

// original is a file that is to be linked: its path without symbolic links, and its
// information.
type original struct {
	Path string
	Info fs.FileInfo
}

// makeTree makes the directories of a package, and each file with makeFile. Symbolic links stay as they are, or become what they lead to.
func makeTree(ctx context.Context, from, to string, keepLinks bool, makeFile func(file original, to string) error) error {
	root, err := walkable(from)
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.Mkdir(filepath.Join(to, name), 0o755)
		}
		switch isLink := entry.Type()&fs.ModeSymlink != 0; {
		case isLink && keepLinks:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, filepath.Join(to, name))
		case isLink:
			if path, err = filepath.EvalSymlinks(path); err != nil {
				return err
			}
		}
		file, err := originalOf(path)
		if err != nil {
			return err
		}
		return makeFile(file, filepath.Join(to, name))
	})
}

// walkable is a path of the directory that can be walked: a link isn't walked into. Links on the
// way to it don't matter.
func walkable(dir string) (string, error) {
	if info, err := os.Lstat(dir); err == nil && info.IsDir() {
		return dir, nil
	}
	return filepath.EvalSymlinks(dir)
}

func originalOf(path string) (original, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return original{}, err
	}
	if !info.Mode().IsRegular() { // opening a named pipe would wait for ever
		return original{}, fmt.Errorf("%s is not a file", path)
	}
	return original{path, info}, nil
}

// hardLink gives a file another name. It refuses files of other users, and those
// that other users can write to: they could change what was verified. Another file
// may replace the one at the path meanwhile, so the link is checked as well.
func hardLink(file original, to string) error {
	notOwn := fmt.Errorf("%s: %w", file.Path, ErrNotOwnFile)
	if !owner.IsOwn(file.Info) || !owner.Exclusive(file.Path) {
		return notOwn
	}
	if err := os.Link(file.Path, to); err != nil {
		return err
	}
	linked, err := os.Lstat(to)
	if err == nil && !owner.IsOwn(linked) {
		err = notOwn
	}
	return err
}

// makeFrom makes a file with the mode of another one; fill writes its content.
func makeFrom(file original, to string, fill func(target, source *os.File) error) error {
	source, err := os.Open(file.Path)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(fill(target, source), target.Chmod(file.Info.Mode().Perm()), target.Close())
}
