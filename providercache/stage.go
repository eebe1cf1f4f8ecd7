package providercache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders/scratch"
)

// attempts is how often a step is tried whose ground others may have removed or
// taken in the meantime.
const attempts = 4

// staging is a private directory in which one package is made.
type staging struct {
	dir     string
	scratch *scratch.Dir
}

func (s *staging) archivePath() string { return filepath.Join(s.dir, "archive.zip") }

// packagePath is where the package is made, a directory or a link.
func (s *staging) packagePath() string { return filepath.Join(s.dir, "package") }

// replacedPath is where a package is put that is about to be replaced.
func (s *staging) replacedPath() string { return filepath.Join(s.dir, "replaced") }

// stage makes a staging directory.
func (d *Store) stage() (*staging, error) {
	var made *scratch.Dir
	var err error
	for range attempts {
		if _, err = makeDirs(d.Dir); err != nil {
			return nil, err
		}
		made, err = scratch.Make(d.Dir)
		if !errors.Is(err, fs.ErrNotExist) { // else somebody removed d.Dir, because it was empty
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return &staging{made.Path, made}, nil
}

// remove removes the directory with all that is still in it.
func (s *staging) remove() { s.scratch.Remove() }

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
