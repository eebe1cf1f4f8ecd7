package command

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/getproviders"
)

// verifyOptions is what the arguments of providers verify ask for.
type verifyOptions struct {
	dirs      []string                // of -dir, patterns among them; none: the current directory
	platforms []getproviders.Platform // of -platform; none given: the one that this is
	cache     bool                    // -cache, or -cache=DIR
	cacheDir  string                  // "": the one that init uses
	mirrors   []string                // of -mirror
	vendored  bool
	json      bool

	problems view.Problems // with values of options
}

// parseVerify reads the arguments of providers verify. The error is a *usageError;
// what is wrong with values is in the options' problems.
func parseVerify(args []string) (verifyOptions, error) {
	var opts verifyOptions
	flags := newFlags("providers verify")
	flags.Func("dir", "", appendTo(&opts.dirs))
	flags.Func("platform", "", opts.addPlatform)
	flags.BoolFunc("cache", "", opts.setCache)
	flags.Func("mirror", "", opts.addMirror)
	flags.BoolVar(&opts.vendored, "vendored", false, "")
	flags.BoolVar(&opts.json, "json", false, "")
	if err := parseOptions(flags, args); err != nil {
		return opts, err
	}
	if opts.platforms == nil {
		opts.platforms = []getproviders.Platform{getproviders.CurrentPlatform()}
	}
	return opts, nil
}

func (o *verifyOptions) addPlatform(given string) error {
	plat, problems := targetPlatform(given)
	o.platforms, o.problems = append(o.platforms, plat), append(o.problems, problems...)
	return nil
}

// addMirror keeps a directory once.
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

// findPlaces lists where to look: where each directory has its packages, unless
// the options name other places.
func (r *verifyRun) findPlaces() (problems view.Problems) {
	if r.opts.cache {
		cache, _, unusable := cachePlace{dir: r.opts.cacheDir}.find(r.Meta)
		if problems = append(problems, unusable...); problems.HasErrors() {
			return problems
		}
		r.places = append(r.places, verifyPlace{path: cache.Dir, dirs: r.dirs, shared: true})
	}
	for _, mirror := range r.opts.mirrors {
		r.places = append(r.places, verifyPlace{path: mirror, dirs: r.dirs, shared: true, required: true, named: true})
	}
	for _, d := range r.dirs {
		switch {
		case r.opts.vendored:
			r.places = append(r.places, verifyPlace{path: filepath.Join(d.dir, "terraform.d", "plugins"), dirs: []verifyDir{d}, required: true})
		case !r.opts.cache && len(r.opts.mirrors) == 0:
			r.places = append(r.places, verifyPlace{path: r.installedIn(d.dir), dirs: []verifyDir{d}, required: true})
		}
	}
	return problems
}

// installedIn is where a working directory has its packages.
func (m *Meta) installedIn(dir string) string {
	data := m.dataDir()
	if !filepath.IsAbs(data) {
		data = filepath.Join(dir, data)
	}
	return filepath.Join(data, "providers")
}
