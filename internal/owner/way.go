package owner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Ways maps directories to whether only one user and root can replace files in them. The results
// are kept, so that each directory is checked once.
type Ways map[string]bool

// Own reports whether only user and root can replace files in a directory, in those above it and in the targets of
// symlinks in its path. dir must be absolute.
func (w Ways) Own(dir string, user int) bool {
	if own, known := w[dir]; known {
		return own
	}
	w[dir] = false // symlinks may form a loop
	w[dir] = isOwnWay(dir, user, func(dir string) bool { return w.Own(dir, user) })
	return w[dir]
}

// Exposed returns the outermost directory in which other users than this one and root can replace
// files: of dir, those above it and the targets of symlinks in its path; "" if others can't. A
// directory that doesn't exist counts as exposed.
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

// IsOwnDir reports whether only this user and root can replace files in a directory, or add to it. If the
// directory doesn't exist yet, the nearest existing one above it is checked.
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

// maxLinks is how many symlinks a path may go through, as on Linux.
const maxLinks = 40

// StrangersLink returns the first symlink in a path, or in those to which its symlinks lead, that belongs to another user than
// this one and root; "" if there is none. What doesn't exist is no symlink. path must be absolute.
func StrangersLink(path string) string { return strangersLink(path, maxLinks) }

func strangersLink(path string, links int) string {
	above := filepath.Dir(path)
	if above != path {
		found := strangersLink(above, links)
		if found != "" {
			return found
		}
	}

	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return ""
	}
	if links == 0 || !OwnedByUserOrRoot(info) {
		return path
	}

	to, err := os.Readlink(path)
	if err == nil && !filepath.IsAbs(to) {
		above, err = filepath.EvalSymlinks(above)
		to = filepath.Join(above, to)
	}
	if err != nil {
		return path
	}
	return strangersLink(filepath.Clean(to), links-1)
}

// IsStrangers reports whether a directory belongs to another user than this one and root. If it doesn't exist, the
// nearest one above it that exists is meant.
func IsStrangers(dir string) bool {
	info, err := os.Stat(dir)
	for errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		info, err = os.Stat(dir)
	}
	return err == nil && !OwnedByUserOrRoot(info)
}

// Repository returns the root of the repository that a directory is in, which is the nearest directory upwards with an entry
// ".git", or the directory itself outside of repositories. In a directory such as /tmp, in which all users may make files, the
// entry of another user doesn't count.
func Repository(dir string) string {
	root, _ := FindRepository(dir)
	return root
}

// FindRepository is [Repository], and reports whether there is one.
func FindRepository(dir string) (root string, found bool) {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Lstat(filepath.Join(at, ".git"))
		if err == nil && !isStrangers(at, info) {
			return at, true
		}
		if filepath.Dir(at) == at {
			return dir, false
		}
	}
}

// isStrangers reports whether another user put an entry into a directory of all users.
func isStrangers(dir string, info fs.FileInfo) bool {
	in, err := os.Stat(dir)
	return err == nil && in.Mode()&fs.ModeSticky != 0 && !OwnedByUserOrRoot(info)
}
