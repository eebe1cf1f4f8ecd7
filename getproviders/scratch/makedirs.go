package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeDirs makes a directory and its parents, and returns those that it made,
// outermost first. Those that exist may be links.
func MakeDirs(path string) (made []string, err error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return nil, nil
	}
	if parent := filepath.Dir(path); parent != path && errors.Is(err, fs.ErrNotExist) {
		if made, err = MakeDirs(parent); err != nil {
			return made, err
		}
	}
	err = os.Mkdir(path, 0o755)
	if err == nil {
		return append(made, path), nil
	}
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() { // another process was faster
		return made, nil
	}
	return made, err
}

// RemoveEmpty removes directories that makeDirs made, if nothing is in them.
func RemoveEmpty(made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		if os.Remove(made[i]) != nil {
			return
		}
	}
}
