package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/patient"
)

// MakeDirs makes a directory and its parents, and returns those that it made, outermost first.
// Existing ones may be symlinks.
func MakeDirs(path string) (made []string, err error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return nil, nil
	}
	if parent := filepath.Dir(path); parent != path && errors.Is(err, fs.ErrNotExist) {
		if made, err = MakeDirs(parent); err != nil {
			return made, err
		}
	}
	err = os.Mkdir(path, 0o755)
	if err == nil {
		return append(made, path), nil
	}
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() { // another process made it first
		return made, nil
	}
	return made, err
}

// RemoveEmpty removes directories that MakeDirs made, if they are empty.
func RemoveEmpty(made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		if patient.Remove(made[i]) != nil {
			return
		}
	}
}

// LinkError means that a directory above a path to replace or remove is a symlink, so that the path
// may be anywhere.
type LinkError struct{ Link, Path string }

// Error implements error.
func (e *LinkError) Error() string {
	return fmt.Sprintf("%s isn't replaced or removed, because %s is a symlink, and what it leads to may belong to others: remove the link", e.Path, e.Link)
}

// Code returns "symlink".
func (e *LinkError) Code() string { return "symlink" }

// CheckLinks returns a *LinkError if a directory between base and path is a symlink and path
// exists. base and path themselves may be symlinks.
func CheckLinks(base, path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	rel, err := filepath.Rel(base, path)
	if err != nil {
		return err
	}
	at := base
	for part := range strings.SplitSeq(filepath.Dir(rel), string(filepath.Separator)) {
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 && at != filepath.Clean(base) {
			return &LinkError{Link: at, Path: path}
		}
	}
	return nil
}

// ownedByUser reports whether a directory belongs to the user who runs this program. In a directory that
// all users can write to, another user could replace a directory of their own with a symlink while root
// removes it; they can't replace root's. Where files have no owner, each user has a temporary directory of
// their own.
func ownedByUser(info fs.FileInfo) bool { return owner.IsUsers(info, true) }

// Temporary makes a directory, with mode 0700, in the system's temporary directory, and removes
// those that killed processes of this user left there: modules, archives, keys for ssh. All
// temporary files without a place of their own belong into one.
func Temporary() (*Dir, error) {
	dir, err := Make(os.TempDir())
	if err != nil {
		return nil, err
	}
	dir.sweepBeside()
	return dir, nil
}

// SweepOwn removes the directories that killed processes of this user left in a directory that other users may
// share. It ignores errors.
func SweepOwn(parent string) {
	dir, err := Make(parent)
	if err != nil {
		return
	}
	dir.sweepBeside()
	dir.Remove()
}

// sweepBeside is SweepOwn for the directory in which d is. The time at which d was made is the current one by the clock of
// the file system.
func (d *Dir) sweepBeside() {
	info, err := os.Stat(d.Path)
	if err == nil {
		sweep(filepath.Dir(d.Path), info.ModTime(), ownedByUser)
	}
}
