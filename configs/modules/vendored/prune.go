package vendored

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// keyOfModule is what the name of a module's directory looks like: names of calls
// joined by dots.
var keyOfModule = regexp.MustCompile(`^[\pL_][\pL\pN_-]*(\.[\pL_][\pL\pN_-]*)*$`)

// Unneeded lists the packages of modules in ".terraform/modules" that belong to
// none of the keys, by the names of their directories, sorted. What doesn't look
// like a package of a module isn't one.
func Unneeded(dir string, keys []string) (names []string, err error) {
	entries, err := os.ReadDir(modulesIn(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		name := entry.Name()
		isPackage := entry.IsDir() || entry.Type()&fs.ModeSymlink != 0
		if isPackage && keyOfModule.MatchString(name) && !strings.HasPrefix(name, ".") && !slices.Contains(keys, name) {
			names = append(names, name)
		}
	}
	return names, err
}

// RemoveModules removes packages of modules.
func RemoveModules(dir string, names []string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, os.RemoveAll(filepath.Join(modulesIn(dir), name)))
	}
	return errors.Join(errs...)
}

func modulesIn(dir string) string { return filepath.Join(dir, filepath.FromSlash(ModulesDir)) }
