// Package staging makes packages in private directories and publishes them by rename,
// so that no other process ever sees a package that is incomplete.
//
//	stage, err := staging.New(dir) // on the file system of the final path
//	defer stage.Remove()
//	// make the package at stage.PackagePath()
//	err = stage.Publish(ctx, final, h1)
//
// A package that is at the final path already stays if it has the same hash, and is
// replaced as a whole if not. [Stage.Offer] lets the caller keep it.
package staging

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders/scratch"
)

// Attempts is how often a step is tried whose directory another process may remove,
// or whose path it may take, in the meantime.
const Attempts = 4

// Stage is a private directory in which one package is made.
type Stage struct {
	dir     string
	scratch *scratch.Dir
}

// ArchivePath is where the package's archive is downloaded.
func (s *Stage) ArchivePath() string { return filepath.Join(s.dir, "archive.zip") }

// PackagePath is where the package is made, a directory or a link.
func (s *Stage) PackagePath() string { return filepath.Join(s.dir, "package") }

// replacedPath is where a package is put that is about to be replaced.
func (s *Stage) replacedPath() string { return filepath.Join(s.dir, "replaced") }

// New makes a staging directory in a directory, which is made if it doesn't exist.
func New(dir string) (*Stage, error) {
	var made *scratch.Dir
	var err error
	for range Attempts {
		if _, err = scratch.MakeDirs(dir); err != nil {
			return nil, err
		}
		made, err = scratch.Make(dir)
		if !errors.Is(err, fs.ErrNotExist) { // else another process removed dir, because it was empty
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
