//go:build unix

package owner

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ChangedByOthers returns a path at which another user than this one and root can replace files of root, or of packages, which
// are directories below root: in a package, in a directory above it, or at a symlink's target in its path; "" if other users
// can't. A group with this user's name doesn't count: many systems make one for each user, and let it write to all that the user
// makes. Paths that don't exist don't count, as this user will make them.
func ChangedByOthers(root string, packages ...string) (path string) {
	path = changedOnTheWay(root, root, maxLinks)
	for _, dir := range packages {
		if path == "" {
			path = changedOnTheWay(root, dir, maxLinks)
		}
		if path == "" {
			path = changedBelow(dir)
		}
	}
	return path
}

// changedBelow is ChangedByOthers for the content of a package. A symlink in it counts as changed,
// as it may lead anywhere.
func changedBelow(dir string) (path string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "" // it doesn't exist
	}
	_ = filepath.WalkDir(real, func(at string, entry fs.DirEntry, err error) error {
		if err == nil {
			var info fs.FileInfo
			info, err = entry.Info()
			if err == nil && entry.Type()&fs.ModeSymlink == 0 && !othersChange(info, false) {
				return nil
			}
		}
		path = at
		return filepath.SkipAll
	})
	return path
}

// changedOnTheWay is ChangedByOthers for a path and the directories above it. Above root, a sticky directory such as
// /tmp doesn't let others replace what isn't theirs.
func changedOnTheWay(root, path string, links int) string {
	info, err := os.Lstat(path)
	switch {
	case links == 0 || err != nil && !errors.Is(err, fs.ErrNotExist):
		return path
	case err != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		if err == nil && !filepath.IsAbs(to) {
			above, evalErr := filepath.EvalSymlinks(filepath.Dir(path))
			to, err = filepath.Join(above, to), evalErr
		}
		if err != nil || !OwnedByUserOrRoot(info) {
			return path
		}
		if path == root {
			root = filepath.Clean(to)
		}
		if found := changedOnTheWay(root, filepath.Clean(to), links-1); found != "" {
			return found
		}
	case othersChange(info, path != root && !strings.HasPrefix(path, root+string(filepath.Separator))):
		return path
	}
	if above := filepath.Dir(path); above != path {
		return changedOnTheWay(root, above, links)
	}
	return ""
}

// othersChange reports whether another user than this one and root may write to a file, or replace files
// in a directory.
func othersChange(info fs.FileInfo, stickyHelps bool) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !OwnedByUserOrRoot(info) {
		return true
	}
	if stickyHelps && info.Mode()&fs.ModeSticky != 0 {
		return false
	}
	return info.Mode()&0o002 != 0 || info.Mode()&0o020 != 0 && !isUsersGroup(stat.Gid)
}

// isUsersGroup reports whether a group has the name of the user who runs this program.
func isUsersGroup(gid uint32) bool {
	group, err := user.LookupGroupId(strconv.FormatUint(uint64(gid), 10))
	if err != nil {
		return false
	}
	me, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	return err == nil && me.Username == group.Name
}
