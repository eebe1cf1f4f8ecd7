// Package link puts a package of one directory into another one in one of several ways: a symlink
// to it, or clones, hard links or copies of its files.
//
//	used, reason, err := link.Tree(ctx, cached, target, []link.Mode{link.Hardlink, link.Copy})
//
// The arguments are an existing directory, a path at which nothing exists, and the allowed modes,
// best first. The results are the mode that worked and why those before it didn't. The new tree's
// files have the content and the modes of the original. After an error nothing exists at the path.
// [ParseMode] parses a setting.
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

// Mode is the way in which a package gets from a cache into a working directory.
type Mode int

// The modes. Auto lets the Installer choose.
const (
	Auto     Mode = iota
	Symlink       // an absolute symlink to the package's directory, as Terraform and OpenTofu make it
	Clone         // copies that share blocks until one is changed, if the file system supports it (btrfs, XFS, APFS)
	Hardlink      // hard links: a write to one changes all
	Copy          // copies
)

var modeNames = []string{"auto", "symlink", "clone", "hardlink", "copy"}

// String returns the mode's name, which ParseMode accepts.
func (m Mode) String() string {
	if m < 0 || int(m) >= len(modeNames) {
		return fmt.Sprintf("LinkMode(%d)", int(m))
	}
	return modeNames[m]
}

// ParseMode parses "auto", "symlink", "clone", "hardlink" or "copy".
func ParseMode(given string) (Mode, error) {
	if mode := slices.Index(modeNames, given); mode >= 0 {
		return Mode(mode), nil
	}
	return Auto, fmt.Errorf("%q is none of auto, symlink, clone, hardlink and copy", given)
}

// ErrChangedByOthers is the reason against a symlink: other users could replace what is verified now.
var ErrChangedByOthers = errors.New("other users can change what is there")

// Order returns the modes to try for packages, which are directories in a cache, best first. The asked mode is the first. Auto means
// a symlink for a cache that is shared with Terraform, as Terraform makes it. For tfdeps' own cache, and if other users can change a
// symlink's target, Auto means a mode that makes files of its own. In the latter case reason names the path; it matches
// ErrChangedByOthers.
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

// ErrNotOwnFile means that a file can't be hard-linked, because other users own it or can write to
// it.
var ErrNotOwnFile = errors.New("only a file that this user owns and no other user can write to can be hard-linked")

// Tree makes at to the package of the directory from. to must not exist, and no other process may
// use it yet. Tree tries the modes in order and uses the first that works; reason joins the errors
// of those before, or is nil. After an error nothing exists at to.
//
// Tree never writes to existing files. Clones and copies get the permissions of the original;
// symlinks inside the package become copies of their targets, because the copy must have the hash
// of the original.
func Tree(ctx context.Context, from, to string, modes []Mode) (used Mode, reason, err error) {
	source, err := filepath.Abs(from)
	if err != nil {
		return Auto, nil, err
	}
	if info, err := os.Stat(source); err != nil { // os.Symlink would make a dangling symlink
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
		return Auto, nil, errors.New("no link mode is allowed")
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

// original is a file to link: its path without symlinks, and its information.
type original struct {
	Path string
	Info fs.FileInfo
}

// makeTree makes the directories of a package, and each file with makeFile. It keeps symlinks if keepLinks is set, otherwise it makes
// their targets.
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

// walkable returns a path of dir that isn't a symlink itself, because WalkDir doesn't follow one.
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
	if !info.Mode().IsRegular() { // opening a named pipe would block
		return original{}, fmt.Errorf("%s is not a file", path)
	}
	return original{path, info}, nil
}

// hardLink makes a hard link to a file. It refuses files of other users, and those that other users
// can write to: they could change what was verified. The file may be replaced between the check and
// the link, so the link is checked as well.
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

// makeFrom makes a file with the mode of another one; fill writes the content.
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
