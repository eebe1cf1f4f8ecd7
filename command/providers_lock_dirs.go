package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// lockDir is a directory with a lock file.
type lockDir struct {
	dir     string
	scratch string // where modules are put that have to be fetched
	configuration
	required getproviders.Requirements
	locks    *depsfile.Locks
}

func (d *lockDir) requires(p getproviders.Provider) bool {
	_, ok := d.required[p]
	return ok
}

// findDirs lists the directories. Of those that a pattern matches, the ones
// without a configuration aren't meant.
func (r *lockRun) findDirs() (problems view.Problems) {
	if len(r.opts.dirs) == 0 {
		r.dirs = []*lockDir{r.load(".")}
		return nil
	}
	dirs, problems := expandDirs(r.opts.dirs)
	for _, d := range dirs {
		problems = append(problems, r.addDir(d)...)
	}
	if len(r.dirs) == 0 && !problems.HasErrors() {
		problems = append(problems, view.NewError("No configuration files", "None of the directories that -dir names has a configuration."))
	}
	return problems
}

// givenDir is a directory that -dir names.
type givenDir struct {
	path    string
	pattern bool // it is there because a pattern matches
}

// expandDirs lists the directories that values of -dir name, each once. What isn't
// a directory is left out where a pattern matches it.
func expandDirs(given []string) (dirs []givenDir, problems view.Problems) {
	seen := map[string]bool{}
	for _, value := range given {
		matches, err := filepath.Glob(value)
		if err == nil && len(matches) == 0 {
			err = os.ErrNotExist
		}
		if err != nil {
			problems = append(problems, view.NewError("Invalid directory", fmt.Sprintf("The option -dir=%s can't be used: %v.", value, err)))
			continue
		}
		pattern := !slices.Equal(matches, []string{value}) || strings.ContainsAny(value, "*?[")
		for _, path := range matches {
			path = filepath.Clean(path)
			info, err := os.Stat(path)
			if !seen[path] && !(pattern && err == nil && !info.IsDir()) {
				dirs = append(dirs, givenDir{path, pattern})
			}
			seen[path] = true
		}
	}
	return dirs, problems
}

func (r *lockRun) addDir(given givenDir) view.Problems {
	d := r.load(given.path)
	switch empty := d.module.Empty && !d.broken.HasErrors(); {
	case empty && given.pattern:
	case empty:
		return view.Problems{view.NewError("No configuration files",
			fmt.Sprintf("The directory %s contains no %s configuration files.", given.path, r.product.Name))}
	default:
		r.dirs = append(r.dirs, d)
	}
	return nil
}

func (r *lockRun) load(dir string) *lockDir {
	d := &lockDir{dir: dir}
	d.configuration.load(dir, r.Meta, r.product, r.opts.configurationOptions)
	return d
}

// readDirs finds out what the directories require, and what they have locked. An
// error in one of them ends the run: half of an update is hard to review.
func (r *lockRun) readDirs() (problems view.Problems) {
	var err error
	if r.temporary, err = os.MkdirTemp("", "tfdeps-"); err != nil {
		return view.Problems{view.NewError("Can't fetch modules", sentence(err))}
	}
	for i, d := range r.dirs {
		d.scratch = filepath.Join(r.temporary, strconv.Itoa(i))
	}
	const many = 8 // at once; modules may have to be fetched
	found, _ := par.Map(r.Context, many, r.dirs, func(ctx context.Context, d *lockDir) (view.Problems, error) {
		return r.readDir(ctx, d), nil
	})
	for _, p := range found {
		problems = append(problems, p...)
	}
	if r.Context.Err() != nil && !problems.HasErrors() {
		problems = append(problems, view.NewError("Interrupted", "Nothing was changed."))
	}
	return problems
}

// readDir reads one of them. Modules that are recorded are used where they are;
// others are fetched to a place that is removed, so that nothing but the lock
// file changes.
func (r *lockRun) readDir(ctx context.Context, d *lockDir) view.Problems {
	record := r.modulesDir()
	if !filepath.IsAbs(record) {
		record = filepath.Join(d.dir, record)
	}
	manifest, err := modules.ReadManifest(record, r.product)
	if err != nil {
		return view.Problems{view.NewError("Failed to read the record of modules", sentence(err))}
	}
	installer, fetcher := r.moduleInstaller(r.product, r.network, r.moduleStore())
	defer fetcher.Close()
	installer.Dir = d.scratch
	d.tree, d.unusable = installer.Install(ctx, d.module, manifest)
	d.misfit = d.tree.CheckProviders(r.product)
	problems := d.problems(r.product)
	if problems.HasErrors() {
		return problems
	}
	var invalid, unread view.Problems
	d.required, invalid = d.tree.Requirements(r.product)
	d.locks, unread = depsfile.Load(filepath.Join(d.dir, depsfile.FileName), r.product)
	return slices.Concat(problems, invalid, unread, inheritLocks(d.locks, r.product))
}
