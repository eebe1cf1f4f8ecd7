package staging

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders/scratch"
)

// Attempts is how often a step is tried whose ground others may have removed or
// taken in the meantime.
const Attempts = 4

// staging is a private directory in which one package is made.
type Stage struct {
	dir     string
	scratch *scratch.Dir
}

func (s *Stage) ArchivePath() string { return filepath.Join(s.dir, "archive.zip") }

// PackagePath is where the package is made, a directory or a link.
func (s *Stage) PackagePath() string { return filepath.Join(s.dir, "package") }

// replacedPath is where a package is put that is about to be replaced.
func (s *Stage) replacedPath() string { return filepath.Join(s.dir, "replaced") }

// newStage makes a staging directory in a directory, which is made if it isn't there.
func New(dir string) (*Stage, error) {
	var made *scratch.Dir
	var err error
	for range Attempts {
		if _, err = scratch.MakeDirs(dir); err != nil {
			return nil, err
		}
		made, err = scratch.Make(dir)
		if !errors.Is(err, fs.ErrNotExist) { // else somebody removed dir, because it was empty
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return &Stage{made.Path, made}, nil
}

// Remove removes the directory with all that is still in it.
func (s *Stage) Remove() { s.scratch.Remove() }
