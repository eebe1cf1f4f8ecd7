package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/internal/patient"
)

// MakeDirs makes a directory and its parents, and returns those that it made,
// outermost first. Those that exist may be links.
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
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() { // another process was faster
		return made, nil
	}
	return made, err
}

// RemoveEmpty removes directories that MakeDirs made, if nothing is in them.
func RemoveEmpty(made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		if patient.Remove(made[i]) != nil {
			return
		}
	}
}

// LinkError says that a symlink stands between a directory and what would be replaced or
// removed below it, which may be anywhere.
type LinkError struct{ Link, Path string }

// Error implements error.
func (e *LinkError) Error() string {
	return fmt.Sprintf("%s isn't replaced or removed, because %s is a symlink, and what it leads to may belong to others: remove the link", e.Path, e.Link)
}

// Code is "symlink".
func (e *LinkError) Code() string { return "symlink" }

// CheckLinks returns a *LinkError if one of the directories below base that lead to path is a
// symlink and something is at path. What base itself and path are doesn't matter.
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

// Temporary makes a directory among the system's temporary ones, and removes there what
// killed processes of this user have left: modules, archives, keys for ssh. All that is
// temporary and needs no place of its own belongs into one. Its mode is 0700.
func Temporary() (*Dir, error) {
	dir, err := Make(os.TempDir())
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir.Path); err == nil { // what the file system's clock says is now
		sweep(os.TempDir(), info.ModTime(), ownedByUser)
	}
	return dir, nil
}
