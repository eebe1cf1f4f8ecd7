package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// ProvidersVerifyCommand reads packages and compares them with lock files.
type ProvidersVerifyCommand struct{ Meta *Meta }

// Synopsis says in a line what the command is for.
func (c *ProvidersVerifyCommand) Synopsis() string {
	return "Read installed packages and compare them with the lock file"
}

// Run carries the command out and returns the exit code.
func (c *ProvidersVerifyCommand) Run(args []string) int {
	opts, err := parseVerify(args)
	if err != nil {
		return c.Meta.misused(err, c.Help())
	}
	run := &verifyRun{Meta: c.Meta, opts: opts, view: view.NewVerify(c.Meta.viewOptions(c.Meta.unversioned(), opts.json))}
	problems := opts.problems
	if !problems.HasErrors() {
		problems = run.all()
	}
	run.view.Problems(problems)
	switch {
	case run.differs:
		return ExitDiffers
	case run.unclear || problems.HasErrors():
		return 1
	}
	return 0
}

// verifyRun is one run of providers verify.
type verifyRun struct {
	*Meta
	opts   verifyOptions
	view   *view.Verify
	cli    *cliconfig.Config
	skip   map[getproviders.Provider]bool // that their developers run
	dirs   []verifyDir
	places []verifyPlace

	differs bool // something isn't as a lock file says
	unclear bool // of something it can't be told
}

// verifyDir is a directory with a lock file.
type verifyDir struct {
	dir   string
	locks *depsfile.Locks
}

// verifyPlace is where packages are that are compared with lock files.
type verifyPlace struct {
	path     string
	dirs     []verifyDir // whose lock files are meant
	shared   bool        // it serves others, too
	required bool        // what is locked has to be there
	named    bool        // by the user: if it isn't there, that is an error
}

// all does what the command is for, and returns what there is to say at the end.
func (r *verifyRun) all() (problems view.Problems) {
	for _, phase := range []func() view.Problems{r.readSettings, r.readLockFiles, r.findPlaces} {
		if problems = append(problems, phase()...); problems.HasErrors() {
			return problems
		}
	}
	return append(problems, r.verify()...)
}

// readSettings finds out where the cache is, and which providers come by other
// means.
func (r *verifyRun) readSettings() (problems view.Problems) {
	if r.cli, problems = r.cliConfig(r.unversioned()); problems.HasErrors() {
		return problems
	}
	var invalid view.Problems
	r.skip, invalid = r.skippedProviders(r.cli, r.unversioned())
	return append(problems, invalid...)
}

// readLockFiles reads the lock file of each directory. Of directories that a
// pattern matches, those without one aren't meant.
func (r *verifyRun) readLockFiles() (problems view.Problems) {
	dirs, problems := expandDirs(r.opts.dirs)
	if len(r.opts.dirs) == 0 {
		dirs = []givenDir{{path: "."}}
	}
	for _, d := range dirs {
		path := filepath.Join(d.path, depsfile.FileName)
		switch _, err := os.Lstat(path); {
		case errors.Is(err, fs.ErrNotExist) && d.pattern:
			continue
		case errors.Is(err, fs.ErrNotExist):
			problems = append(problems, view.NewError("No lock file", fmt.Sprintf(
				"There is no file %s. It is what packages are compared with.", path)))
			continue
		}
		locks, unread := depsfile.Load(path, r.unversioned())
		problems = append(problems, unread...)
		r.dirs = append(r.dirs, verifyDir{d.path, locks})
	}
	if len(r.dirs) == 0 && !problems.HasErrors() {
		problems = append(problems, view.NewError("No lock files", "None of the directories that -dir names has a lock file."))
	}
	return problems
}

// verify reads all packages, compares them with each lock file that is about
// them, and tells what differs.
func (r *verifyRun) verify() (problems view.Problems) {
	paths := make([]string, len(r.places))
	for i, place := range r.places {
		paths[i] = place.path
	}
	trees, err := providercache.ReadTrees(r.Context, paths)
	if err != nil {
		return view.Problems{view.NewError("Interrupted", "Not all packages were read: "+err.Error()+".")}
	}
	for i, place := range r.places {
		if err := trees[i].Err; err != nil && (place.named || !errors.Is(err, fs.ErrNotExist)) {
			problems = append(problems, view.NewError("Failed to look for packages", sentence(err)))
			continue
		}
		for _, d := range place.dirs {
			r.compare(place, d, trees[i])
		}
	}
	if err := r.view.End(r.Stdout); err != nil {
		problems = append(problems, view.NewError("Failed to write the report", sentence(err)))
	}
	return problems
}

// compare compares what is in a place with one lock file.
func (r *verifyRun) compare(place verifyPlace, d verifyDir, tree providercache.ReadTree) {
	how := providercache.CompareOptions{Shared: place.shared, Skip: r.skip}
	if place.required {
		how.Platforms = r.opts.platforms
	}
	found := tree.Compare(d.locks, how)
	r.view.Tell(view.VerifiedTree{Path: place.path, LockFile: filepath.Join(d.dir, depsfile.FileName), Packages: found})
	r.differs = r.differs || slices.ContainsFunc(found, providercache.ComparedPackage.Differs)
	r.unclear = r.unclear || slices.ContainsFunc(found, providercache.ComparedPackage.Unclear)
}
