package modules

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// stage is a private directory, beside the places of modules, in which
// packages are made.
type stage struct {
	dir  string
	made []string // the directories above it that it needed, innermost first
}

func newStage(beside string) (stage, error) {
	var made []string
	for dir := filepath.Clean(beside); !exists(dir); dir = filepath.Dir(dir) {
		made = append(made, dir)
	}
	if err := os.MkdirAll(beside, 0o755); err != nil {
		return stage{}, err
	}
	dir, err := os.MkdirTemp(beside, ".tfdeps-")
	return stage{dir, made}, err
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// at is where the package of a module is made.
func (s stage) at(key string) string { return filepath.Join(s.dir, key) }

// publish moves the package of a module to its place. What is there goes to
// the stage, and is removed with it.
func (s stage) publish(key, final string) error {
	replaced := filepath.Join(s.dir, ".replaced-"+key)
	err := os.Rename(final, replaced)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(s.at(key), final); err != nil {
		_ = os.Rename(replaced, final)
		return err
	}
	return nil
}

// remove removes the stage, and what was made for it if nothing came of it.
func (s stage) remove() {
	_ = os.RemoveAll(s.dir)
	for _, dir := range s.made {
		if os.Remove(dir) != nil {
			return // something is in it
		}
	}
}
