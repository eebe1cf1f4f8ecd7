//go:build linux || darwin

package receipt

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tfdeps/tfdeps/providercache/internal/owner"
)

// Lstat asks the system about a path, without following a link.
func Lstat(path string) (PathStat, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return PathStat{}, err
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return PathStat{}, errNotRecordable
	}
	modified, changed, device := timesOf(sys)
	stat := PathStat{
		StatEntry: StatEntry{Mode: info.Mode(), Owner: sys.Uid, Inode: sys.Ino, Modified: modified, Changed: changed},
		Device:    device, Allocated: sys.Blocks * 512,
	}
	if info.Mode().IsRegular() {
		stat.Size = info.Size()
	}
	return stat, nil
}

// isOwn reports whether only a user and root can write to a file or make
// something in a directory.
func (e StatEntry) isOwn(user int) bool {
	return (int(e.Owner) == user || e.Owner == 0) && !owner.OthersWrite(e.Mode)
}

// isOwnWay reports whether only a user and root can replace what is in a
// directory; of those above it, and of where a link leads to, it asks. In one
// that is sticky, like /tmp, others can't touch what isn't theirs.
func isOwnWay(dir string, user int, isOwn func(dir string) bool) bool {
	above := filepath.Dir(dir)
	stat, err := Lstat(dir)
	if err != nil || above != dir && !isOwn(above) {
		return false
	}
	switch {
	case stat.Mode&fs.ModeSymlink != 0:
		stat.Mode = 0 // it has none
		to, err := os.Readlink(dir)
		if err == nil && !filepath.IsAbs(to) {
			above, err = filepath.EvalSymlinks(above)
			to = filepath.Join(above, to)
		}
		return err == nil && stat.isOwn(user) && isOwn(filepath.Clean(to))
	case stat.Mode&fs.ModeSticky != 0:
		stat.Mode &^= 0o022
	}
	return stat.Mode.IsDir() && stat.isOwn(user)
}
