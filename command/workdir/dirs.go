package workdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// Given is a directory that the option -dir names.
type Given struct {
	Path    string
	Pattern bool // a pattern matches it
}

// Expand returns the directories that values of -dir name, each once, or the current
// one without any value. It skips files that a pattern
// matches.
func Expand(given []string) (dirs []Given, problems problem.List) {
	if len(given) == 0 {
		return []Given{{Path: "."}}, nil
	}
	seen := map[string]bool{}
	for _, value := range given {
		matches, err := filepath.Glob(value)
		pattern := strings.ContainsAny(value, "*?[") || len(matches) > 0 && matches[0] != value
		switch {
		case err == nil && len(matches) == 0 && pattern:
			err = errors.New("no directory matches it")
		case err == nil && len(matches) == 0:
			err = errors.New("there is no such directory")
		}
		if err != nil {
			problems = append(problems, problem.Errorf("invalid_option", "Invalid directory",
				"The option -dir=%s can't be used: %v. Correct the path, which is relative to the current directory.", value, err))
			continue
		}
		for _, path := range matches {
			path = filepath.Clean(path)
			info, err := os.Stat(path)
			if !seen[path] && !(pattern && err == nil && !info.IsDir()) {
				dirs = append(dirs, Given{path, pattern})
			}
			seen[path] = true
		}
	}
	return dirs, problems
}

// shownDirs formats a list of directories for a sentence.
func shownDirs(paths []string) string {
	if slices.Equal(paths, []string{"."}) {
		return "this directory"
	}
	return strings.Join(paths, ", ")
}

// LockedBelow returns the packages that the lock files in and below paths select, or nil without
// paths.
func LockedBelow(paths []string, product getproviders.Product) ([]getproviders.PackageSpec, problem.List) {
	if len(paths) == 0 {
		return nil, nil
	}
	files, err := lockFiles(paths)
	if err != nil {
		return nil, problem.Fail("lock_file", "Failed to look for lock files", "%v.\n\nName directories that have lock files, or directories above them.", err)
	}
	if len(files) == 0 {
		return nil, problem.Fail("lock_file", "No lock files",
			"There is no file %s in %s, nor below it. Run init first: it writes the file.", depsfile.FileName, shownDirs(paths))
	}
	var problems problem.List
	var all []*depsfile.Locks
	for _, file := range files {
		locks, found := depsfile.Load(file, product)
		problems = append(problems, found...)
		all = append(all, locks)
	}
	return providercache.PackageSpecs(all...), problems
}

// lockFiles finds lock files: each path that is a file, and in and
// below each directory the files with the name of a lock file. It skips directories whose names begin
// with a dot, because programs made their files.
func lockFiles(paths []string) (files []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		err = filepath.WalkDir(path+string(filepath.Separator), func(at string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && filepath.Clean(at) != filepath.Clean(path) && strings.HasPrefix(entry.Name(), "."):
				return filepath.SkipDir
			case !entry.IsDir() && entry.Name() == depsfile.FileName:
				files = append(files, filepath.Clean(at))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// ParseSpec parses ADDRESS or ADDRESS@VERSION of a provider that has packages. err is about the address, and invalid about the version or
// a provider without packages.
func ParseSpec(given string, product getproviders.Product) (spec getproviders.PackageSpec, err, invalid error) {
	address, version, versioned := strings.Cut(given, "@")
	if spec.Provider, err = product.ParseProvider(address); err == nil && versioned {
		spec.Version, invalid = getproviders.ParseVersion(version)
	}
	if err == nil && invalid == nil && (spec.Provider.IsBuiltIn() || spec.Provider.IsLegacy()) {
		invalid = fmt.Errorf("%s has no packages", spec.Provider)
	}
	return spec, err, invalid
}
