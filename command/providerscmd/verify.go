package providerscmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// verifyOptions are the parsed arguments of providers verify.
type verifyOptions struct {
	sources.Reporter
	dirs      []string                // of -dir, also patterns; empty means the current directory
	platforms []getproviders.Platform // of -platform; empty means the current one
	cache     bool                    // -cache, or -cache=DIR
	cacheDir  string                  // "" means the one that init uses
	mirrors   []string                // of -mirror
	vendored  bool
	progress  view.Progress

	problems problem.List // with values of options
}

func (o *verifyOptions) Flags() cli.Flags {
	return cli.Flags{
		cli.Option("dir=DIR", cli.Strings(&o.dirs),
			"The directory with the lock file, instead of the current one", "May be given more than once, and be a pattern such as envs/*, for directories with a lock file. A package that several share is read once."),
		{Name: "cache", Label: "-cache, -cache=DIR", Value: cli.BoolFunc(o.setCache),
			Help: `Look into the shared cache instead: the one that init uses, or the one in this directory, as for "cache verify -dir"`, More: `A cache may lack packages, and those that aren't locked are skipped.`},
		cli.Option("mirror=DIR", cli.Func(o.addMirror),
			"Look into this filesystem mirror instead, with packed or unpacked packages", "Those that aren't locked are skipped. May be given more than once."),
		cli.Switch("vendored", &o.vendored, "Look into terraform.d/plugins instead"),
		cli.Option("platform=OS_ARCH", cli.Platforms(&o.platforms, nil, &o.problems),
			"A platform whose packages have to be there; may be given more than once", "The default is this machine's. Packages for others are compared, too."),
		o.JSONFlag("Print the JSON object described below"),
		cli.Progress(&o.progress),
		cli.NoColor(),
	}
}

// addMirror adds a directory, once.
func (o *verifyOptions) addMirror(given string) error {
	if given == "" {
		return errors.New("a directory has to be named")
	}
	if dir := filepath.Clean(given); !slices.Contains(o.mirrors, dir) {
		o.mirrors = append(o.mirrors, dir)
	}
	return nil
}

// setCache reads -cache, -cache=false, or -cache=DIR.
func (o *verifyOptions) setCache(given string) error {
	on, err := strconv.ParseBool(given)
	if o.cache = on || err != nil; err != nil {
		o.cacheDir = given
	}
	return nil
}

// Report compares packages with lock files, and returns the report.
func (o *verifyOptions) Report() (*result.Result, error) {
	if o.platforms == nil {
		o.platforms = []getproviders.Platform{getproviders.CurrentPlatform()}
	}
	how := o.Meta.ViewOptions(o.Product, o.Out.JSON, o.progress)
	how.Platforms = true
	o.Meta = o.Meta.Showing(view.NewActivity(how))
	var report []result.VerifiedTree
	if o.Log.Add(o.problems...) {
		report = o.verify()
	}
	if report == nil {
		return nil, nil
	}
	is := func(finding func(providercache.ComparedPackage) bool) bool {
		return slices.ContainsFunc(report, func(t result.VerifiedTree) bool { return slices.ContainsFunc(t.Packages, finding) })
	}
	switch {
	case is(func(p providercache.ComparedPackage) bool { // init -upgrade leaves old versions in .terraform/providers, which plan doesn't use
		return p.Differs() && (o.vendored || p.Finding != providercache.NotLocked || p.Locked.Version.IsZero())
	}):
		o.Out.Code, o.Out.Despite = cli.ExitDiffers, true
	case is(providercache.ComparedPackage.Unclear):
		o.Out.Code = 1
	}
	return result.Verified(report), nil
}

// lockedDir is a directory with a lock file.
type lockedDir struct {
	path  string
	locks *depsfile.Locks
}

// place is a directory of packages that are compared with lock files.
type place struct {
	path  string
	dirs  []lockedDir // whose lock files are compared
	how   providercache.CompareOptions
	named bool // by the user, so that it has to exist
}

// verify hashes all packages, and compares them with their lock
// files. It returns nil after an error.
func (o *verifyOptions) verify() []result.VerifiedTree {
	s := o.Session
	if !s.ReadConfig() {
		return nil
	}
	skip, problems := sources.Skipped(s.Meta.Env, s.Config, s.Product)
	if !s.Log.Add(problems...) {
		return nil
	}
	dirs, ok := readLockFiles(s, o.dirs)
	if !ok {
		return nil
	}
	places, ok := o.findPlaces(dirs)
	if !ok {
		return nil
	}
	trees, err := providercache.ReadTrees(s.Meta.Context, result.Each(places, func(p place) string { return p.path }), event.Observer(s.Meta.Activity.Observe))
	s.Meta.Activity.Close()
	if err != nil {
		s.Log.Fail("interrupted", "Interrupted", "Not all packages were read.")
		return nil
	}
	report := []result.VerifiedTree{}
	for i, p := range places {
		if err := trees[i].Err; err != nil && (p.named || !errors.Is(err, fs.ErrNotExist)) {
			s.Log.Failed("package_not_found", "Failed to look for packages", err)
			continue
		}
		for _, d := range p.dirs {
			p.how.Skip = skip
			report = append(report, result.VerifiedTree{
				Path: filepath.ToSlash(p.path), LockFile: filepath.ToSlash(filepath.Join(d.path, depsfile.FileName)), Locked: len(d.locks.All()), Shared: p.how.Shared, Packages: trees[i].Compare(d.locks, p.how), Called: o.Called,
			})
		}
	}
	return report
}

// readLockFiles reads the lock file of each directory. It skips directories that a pattern
// matches and that have no lock file.
func readLockFiles(s *sources.Session, given []string) (dirs []lockedDir, ok bool) {
	all, problems := workdir.Expand(given)
	s.Log.Add(problems...)
	for _, d := range all {
		path := filepath.Join(d.Path, depsfile.FileName)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			if !d.Pattern {
				s.Log.Fail("lock_file", "No lock file",
					"There is no file %s. It is what packages are compared with. Run init in that directory first: it writes the file.", path)
			}
			continue
		}
		locks, problems := depsfile.Load(path, s.Product)
		s.Log.Add(problems...)
		dirs = append(dirs, lockedDir{d.Path, locks})
	}
	if ok = s.Log.Add(); ok && len(dirs) == 0 {
		return nil, s.Log.Fail("lock_file", "No lock files", "None of the directories that -dir names has a lock file.")
	}
	return dirs, ok
}

// findPlaces returns the directories of packages: those of each working directory, unless
// options name others.
func (o *verifyOptions) findPlaces(dirs []lockedDir) (places []place, ok bool) {
	if o.cache {
		cache, ok := o.FindCache(o.cacheDir)
		if !ok {
			return nil, false
		}
		places = append(places, place{path: cache.Dir, dirs: dirs, how: providercache.CompareOptions{Shared: true}})
	}
	for _, mirror := range o.mirrors {
		places = append(places, place{path: mirror, dirs: dirs, how: providercache.CompareOptions{Shared: true, Platforms: o.platforms}, named: true})
	}
	if !o.vendored && len(places) > 0 {
		return places, true
	}
	for _, d := range dirs {
		path := filepath.Join(d.path, "terraform.d", "plugins")
		if !o.vendored {
			path = workdir.ProvidersDir(o.Meta.Env, d.path)
		}
		places = append(places, place{path: path, dirs: []lockedDir{d}, how: providercache.CompareOptions{Platforms: o.platforms}})
	}
	return places, true
}
