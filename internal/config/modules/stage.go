package modules

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// stage is a private directory, beside the places of modules, in which
// packages are made.
type stage struct {
	*scratch.Dir
	made []string // the directories above it that it needed, innermost first
}

// newStage makes a stage.
func newStage(beside string) (stage, error) {
	var made []string
	for dir := filepath.Clean(beside); !exists(dir); dir = filepath.Dir(dir) {
		made = append(made, dir)
	}
	if err := os.MkdirAll(beside, 0o755); err != nil {
		return stage{}, err
	}
	dir, err := scratch.Make(beside)
	if err != nil {
		return stage{}, err
	}
	sweep(beside)
	return stage{dir, made}, nil
}

// sweep removes the stages that killed runs have left. When something there changed last is the latest time that
// the file system's clock is known to have shown.
func sweep(beside string) {
	if info, err := os.Stat(beside); err == nil {
		scratch.Sweep(beside, info.ModTime())
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// at is where the package of a module is made.
func (s stage) at(key string) string { return filepath.Join(s.Path, key) }

// publish moves the package of a module to its place. What is there goes to
// the stage, and is removed with it.
func (s stage) publish(key, final string) error {
	if err := checkLinks(final); err != nil {
		return err
	}
	replaced := filepath.Join(s.Path, ".replaced-"+key)
	err := patient.Rename(final, replaced)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := patient.Rename(s.at(key), final); err != nil {
		_ = patient.Rename(replaced, final)
		return err
	}
	return nil
}

// checkLinks refuses to replace or remove the package of a module where the directory of
// all packages is a symlink: what lies there may be anything.
func checkLinks(final string) error {
	dir := filepath.Dir(final)
	return scratch.CheckLinks(filepath.Dir(dir), final)
}

// remove removes the stage, and what was made for it if nothing came of it.
func (s stage) remove() {
	s.Remove()
	for _, dir := range s.made {
		if patient.Remove(dir) != nil {
			return // something is in it
		}
	}
}
