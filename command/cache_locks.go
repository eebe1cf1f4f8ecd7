package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// pathList is an option for paths that may be given more than once. It isn't nil
// if it was given.
type pathList []string

// String implements flag.Value.
func (l *pathList) String() string { return strings.Join(*l, " ") }

// Set implements flag.Value.
func (l *pathList) Set(path string) error {
	if path == "" || strings.HasPrefix(path, "-") {
		return errors.New("a directory or a file has to follow")
	}
	*l = append(*l, path)
	return nil
}

// with adds the other arguments, which are more paths if the option was given.
func (l pathList) with(operands []string, option string) (pathList, error) {
	if len(operands) > 0 && l == nil {
		return nil, &usageError{text: fmt.Sprintf("Error: what is %q? Directories have to follow %s", operands[0], option)}
	}
	return append(l, operands...), nil
}

// readLocked gathers what the lock files below the paths select; nil if there
// are no paths.
func readLocked(paths []string, product getproviders.Product) (providercache.Locked, view.Problems) {
	if len(paths) == 0 {
		return nil, nil
	}
	files, err := lockFiles(paths)
	if err != nil {
		return nil, cacheProblem("Failed to look for lock files", err)
	}
	if len(files) == 0 {
		return nil, view.Problems{view.NewError("No lock files", fmt.Sprintf(
			"There is no file %s in %s, nor below.", depsfile.FileName, strings.Join(paths, ", ")))}
	}
	var problems view.Problems
	var all []*depsfile.Locks
	for _, file := range files {
		locks, found := depsfile.Load(file, product)
		problems = append(problems, found...)
		all = append(all, locks)
	}
	return providercache.LockedBy(all...), problems
}

// lockFiles finds lock files: a path that is a file is one; in a directory and
// below it they are those with the name of one. Directories whose names begin
// with a dot aren't looked into: what is there was made by programs.
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
