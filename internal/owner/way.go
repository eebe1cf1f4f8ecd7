package owner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Ways are directories, and whether only one user and root can exchange what is in them.
type Ways map[string]bool

// Own reports it of a directory, which is absolute, and of all above it and those to which links in its path lead. Each
// is looked at once.
func (w Ways) Own(dir string, user int) bool {
	if own, known := w[dir]; known {
		return own
	}
	w[dir] = false // links may lead in a circle
	w[dir] = isOwnWay(dir, user, func(dir string) bool { return w.Own(dir, user) })
	return w[dir]
}

// Exposed returns the outermost directory, of the given one and those above it and where links in its
// path lead to, in which other users than this one and root can exchange what is there; "" if there
// is none. A directory that doesn't exist counts as exposed.
func Exposed(dir string) (outermost string) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	ways := Ways{}
	if ways.Own(dir, os.Geteuid()) {
		return ""
	}
	for way, own := range ways {
		if !own && (outermost == "" || len(way) < len(outermost)) {
			outermost = way
		}
	}
	return outermost
}

// IsOwnDir reports whether only this user and root can exchange what is in a directory, or add to it. If the
// directory doesn't exist yet, the ones above it are examined.
func IsOwnDir(dir string) bool {
	info, err := os.Stat(dir)
	if err == nil {
		return Exposed(dir) == "" && (IsPrivate(dir, info) || IsRoots(info))
	}
	for ; errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir); _, err = os.Stat(dir) {
		dir = filepath.Dir(dir)
	}
	return err == nil && Exposed(dir) == ""
}
