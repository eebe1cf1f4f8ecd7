package staging

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

const (
	// asidePrefix makes a name that neither tfdeps nor Terraform takes for a platform.
	asidePrefix = "moved-aside_"
	// mostAside bounds how often something is moved aside from one place.
	mostAside = 10
)

// MoveAside keeps what Publish would delete although no package put it there: files at the final path that the
// staged package doesn't have, and a link or a file in the place of the package's directory. They are moved to a new
// name beside the final path, which is returned; "" means that there is nothing to keep. What stays at the final path
// is for Publish to replace.
func (s *Stage) MoveAside(final string) (aside string, err error) {
	info, err := os.Lstat(final)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		err = scratch.CheckLinks(filepath.Dir(s.dir), final)
	}
	if err != nil {
		return "", err
	}

	if !info.IsDir() {
		return s.moveWhole(final)
	}
	strays, err := s.strays(final)
	if err != nil { // what can't be read may be anything
		return s.moveWhole(final)
	}
	return moveFiles(final, strays)
}

// strays returns the paths, relative to a directory, of its files that the staged package doesn't have.
func (s *Stage) strays(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(s.PackagePath(), name))
		if err != nil || !info.Mode().IsRegular() || !entry.Type().IsRegular() {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// moveFiles moves files of a directory.
func moveFiles(dir string, names []string) (aside string, err error) {
	if len(names) == 0 {
		return "", nil
	}
	aside, err = freeAside(dir)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		to := filepath.Join(aside, name)
		if _, err := scratch.MakeDirs(filepath.Dir(to)); err != nil {
			return "", err
		}
		if err := patient.Rename(filepath.Join(dir, name), to); err != nil {
			return "", err
		}
	}
	return aside, nil
}

// moveWhole moves what is at the final path, unless it is the staged link.
func (s *Stage) moveWhole(final string) (aside string, err error) {
	staged, err := os.Readlink(s.PackagePath())
	if err == nil {
		existing, err := os.Readlink(final)
		if err == nil && existing == staged {
			return "", nil
		}
	}

	aside, err = freeAside(final)
	if err != nil {
		return "", err
	}
	return aside, patient.Rename(final, aside)
}

// freeAside returns a path beside the final path at which there is nothing yet.
func freeAside(final string) (string, error) {
	first := filepath.Join(filepath.Dir(final), asidePrefix+filepath.Base(final))
	for n := range mostAside {
		path := first
		if n > 0 {
			path = fmt.Sprintf("%s.%d", first, n+1)
		}
		_, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s has files that don't belong to the package, and files were moved aside from there %d times already: remove %s and those beside it", final, mostAside, first)
}
