package providercache

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// stagingPrefix begins the names of staging directories; the dot keeps
	// them out of the layout.
	stagingPrefix = ".tfdeps-"
	// abandonedAfter is how old a staging directory has to be to count as
	// left behind where no lock can tell.
	abandonedAfter = 24 * time.Hour
	// attempts is how often a step is tried whose ground others may have
	// removed or taken in the meantime.
	attempts = 4
)

// staging is a private directory in which one package is made.
type staging struct {
	dir  string
	lock io.Closer // shows to other processes that this one lives; nil where that isn't possible
}

func (s *staging) archivePath() string { return filepath.Join(s.dir, "archive.zip") }

// packagePath is where the package is made, a directory or a link.
func (s *staging) packagePath() string { return filepath.Join(s.dir, "package") }

// replacedPath is where a package is put that is about to be replaced.
func (s *staging) replacedPath() string { return filepath.Join(s.dir, "replaced") }

// stage makes a staging directory.
func (d *Dir) stage() (*staging, error) {
	var dir string
	var err error
	for range attempts {
		if _, err = makeDirs(d.Path); err != nil {
			return nil, err
		}
		dir, err = os.MkdirTemp(d.Path, stagingPrefix)
		if !errors.Is(err, fs.ErrNotExist) { // else somebody removed d.Path, because it was empty
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return &staging{dir: dir, lock: holdLock(filepath.Join(dir, "lock"))}, nil
}

// remove removes the directory with all that is still in it. What can't be
// removed now is left to the next sweep.
func (s *staging) remove() {
	if s.lock != nil {
		s.lock.Close()
	}
	_ = os.RemoveAll(s.dir)
}

// sweep removes the staging directories that killed processes left in target.
func sweep(target string, now time.Time) {
	entries, _ := os.ReadDir(target)
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), stagingPrefix) {
			continue
		}
		dir := filepath.Join(target, entry.Name())
		if abandoned(dir, now) {
			_ = os.RemoveAll(dir)
		}
	}
}

// abandoned reports whether nobody works in a staging directory any more. A
// directory without a lock file may be about to get one.
func abandoned(dir string, now time.Time) bool {
	if free, known := lockIsFree(filepath.Join(dir, "lock")); known {
		return free
	}
	info, err := os.Stat(dir)
	return err == nil && now.Sub(info.ModTime()) > abandonedAfter
}

// makeDirs makes a directory and its parents, and returns those that it made,
// outermost first. Those that exist may be links.
func makeDirs(path string) (made []string, err error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return nil, nil
	}
	if parent := filepath.Dir(path); parent != path && errors.Is(err, fs.ErrNotExist) {
		if made, err = makeDirs(parent); err != nil {
			return made, err
		}
	}
	err = os.Mkdir(path, 0o755)
	if err == nil {
		return append(made, path), nil
	}
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() { // somebody was faster
		return made, nil
	}
	return made, err
}

// removeEmpty removes directories that makeDirs made, if nothing is in them.
func removeEmpty(made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		if os.Remove(made[i]) != nil {
			return
		}
	}
}
