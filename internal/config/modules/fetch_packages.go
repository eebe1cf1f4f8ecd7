package modules

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/files"
	"github.com/tfdeps/tfdeps/internal/par"
)

// atOnce bounds how many questions are asked and packages awaited at once.
// Fetcher and client have bounds of their own.
const atOnce = 32

// packageSource is where the package of a module is fetched from.
type packageSource struct {
	remote  Remote // its subdirectory is the module's
	pin     string // see [FetchRequest]
	literal bool   // the subdirectory is a name: a registry's can't be a pattern
	own     bool   // see [FetchRequest]

	registry Registry // which of them has it; zero: none
	version  string   // of its module
	unasked  bool     // see [Choice]
	commit   string   // see [FetchRequest]
	beside   *Requests
}

// locate finds out where the packages of modules are.
func (w *walk) locate(level []*step) {
	warnings, errs := par.Map(w.ctx, atOnce, level, func(ctx context.Context, s *step) (hcl.Diagnostics, error) {
		from, warnings, err := w.locatePackage(ctx, s.address, w.constraint(s))
		s.from = from
		s.from.own = from.own && !s.parent.foreign
		s.from.commit = w.commit(s)
		return registryWarnings(s, warnings), err
	})
	for i, s := range level {
		s.problems = append(s.problems, warnings[i]...)
		s.problems = append(s.problems, chosenOffline(s)...)
		if errs[i] != nil {
			s.fail(w.unlocated(s, errs[i]))
		}
	}
}

// commit is what was locked for the source that a call still has; "" if nothing
// was.
func (w *walk) commit(s *step) string {
	if w.Mode == Normal && w.Locked[s.key].Source == s.address.String() {
		return w.Commits[s.key]
	}
	return ""
}

// constraint is what the version of a module has to be.
func (w *walk) constraint(s *step) string {
	locked, ok := w.Locked[s.key]
	if ok && w.Mode == Normal && locked.Version != "" && locked.Source == s.address.String() && satisfies(locked.Version, s.call.Version) {
		return locked.Version
	}
	return s.call.Version
}

// locatePackage finds out where the package of an address is.
func (in *Resolver) locatePackage(ctx context.Context, address Address, constraint string) (packageSource, []string, error) {
	switch address := address.(type) {
	case Remote:
		return packageSource{remote: address, own: true}, nil, nil
	case Registry:
		if in.Registries == nil {
			return packageSource{}, nil, errNoRegistries
		}
		choice, err := in.Registries.Select(ctx, address, constraint)
		if err != nil {
			return packageSource{}, choice.Warnings, err
		}
		if in.DryRun { // where it is would be remembered
			return packageSource{registry: address, version: choice.Version, unasked: choice.Unasked}, choice.Warnings, nil
		}
		remote, err := in.Registries.Locate(ctx, address, choice.Version)
		pin := address.Package() + " " + choice.Version
		return packageSource{registry: address, remote: remote, version: choice.Version, unasked: choice.Unasked, pin: pin, literal: true}, choice.Warnings, err
	default:
		return packageSource{}, nil, fmt.Errorf("%s can't be fetched", address)
	}
}

// Errors of an Resolver that isn't made for what it is asked for.
var (
	errNoRegistries = errors.New("there is nothing to ask registries with")
	errNoFetcher    = errors.New("there is nothing to fetch it with")
)

// fetch gets the packages of those modules that aren't there, all at once, and
// puts them into their places.
func (w *walk) fetch(level []*step) {
	var missing []*step
	for _, s := range level {
		if !s.failed() && s.record.Dir == "" {
			missing = append(missing, s)
			w.emit(Downloading{Key: s.key, Package: shownPackage(s), Version: s.from.version})
		}
	}
	if len(missing) == 0 {
		return
	}
	stage, err := newStage(w.Dir)
	if err != nil {
		for _, s := range missing {
			s.fail(notFetched(s, err))
		}
		return
	}
	defer stage.remove()
	beside := new(Requests)
	for _, s := range missing {
		beside.All = append(beside.All, s.from.request())
	}
	_, errs := par.Map(w.ctx, atOnce, missing, func(ctx context.Context, s *step) (struct{}, error) {
		s.from.beside = beside
		return struct{}{}, w.fetchOne(ctx, s, stage.at(s.key))
	})
	var fetched []*step
	for i, s := range missing {
		if errs[i] != nil {
			s.fail(w.unfetched(s, errs[i]))
		} else {
			fetched = append(fetched, s)
		}
	}
	w.publish(stage, fetched)
}

// plan tells which modules of a level would be fetched. Those that are recorded with the same source stand for
// what would be fetched.
func (w *walk) plan(level []*step) {
	for _, s := range level {
		if s.failed() || s.record.Dir != "" {
			continue
		}
		recorded, known := w.before[s.key]
		there := known && recorded.Source == s.address.String() && w.isDir(w.at(recorded.Dir))
		planned := Planned{Downloading: Downloading{Key: s.key, Package: shownPackage(s), Version: s.from.version}, Was: recorded.Version, Code: Absent}
		switch {
		case known && recorded.Source != s.address.String():
			planned.Code = SourceChanged
		case known && !satisfies(recorded.Version, s.call.Version):
			planned.Code = VersionChanged
		case there:
			planned.Code = Upgraded
		}
		planned.Certain = there && s.from.version != "" && recorded.Version == s.from.version
		w.emit(planned)
		if s.recorded = recorded; there && !w.strays(s) {
			s.record = recorded
		} else {
			s.problems = append(s.problems, done...)
		}
	}
}

// fetchOne gets the package of a module, and finds the module in it.
func (w *walk) fetchOne(ctx context.Context, s *step, dst string) (err error) {
	if s.fetched, err = w.fetchPackage(ctx, &s.from, dst); err != nil {
		return err
	}
	s.subdir, err = findSubdir(dst, s.from)
	return err
}

// fetchPackage fetches a package. Where a registry said that it is may be remembered from
// an earlier run, and not hold any more: then the registry is asked again.
func (in *Resolver) fetchPackage(ctx context.Context, from *packageSource, dst string) (Fetched, error) {
	if in.Fetcher == nil {
		return Fetched{}, errNoFetcher
	}
	fetched, err := in.Fetcher.Fetch(ctx, from.request(), dst)
	if err == nil || from.version == "" || ctx.Err() != nil {
		return fetched, err
	}
	remote, again := in.Registries.Relocate(ctx, from.registry, from.version)
	if again != nil || remote == from.remote {
		return Fetched{}, err
	}
	from.remote = remote
	return in.Fetcher.Fetch(ctx, from.request(), dst)
}

func (o packageSource) request() FetchRequest {
	return FetchRequest{Package: o.remote.Package, Pin: o.pin, Commit: o.commit, Own: o.own, Beside: o.beside, Served: o.remote.Served}
}

// findSubdir finds the module in its package.
func findSubdir(dir string, from packageSource) (string, error) {
	subdir := from.remote.Subdir
	if subdir == "" {
		return "", nil
	}
	if !from.literal {
		matches, err := fs.Glob(os.DirFS(dir), subdir)
		switch {
		case err != nil:
			return "", fmt.Errorf("the subdirectory %q is not a pattern of names: %w", subdir, err)
		case len(matches) > 1:
			return "", fmt.Errorf("the package has several directories that match %q: %q is one, %q another", subdir, matches[0], matches[1])
		case len(matches) == 1:
			subdir = matches[0]
		}
	}
	found, err := Inside(dir, subdir)
	switch {
	case errors.Is(err, errOutside):
		return "", err
	case err != nil || !(files.System{}).IsDir(found):
		return "", &getproviders.Fault{
			Err:  fmt.Errorf("%w %q", errNoSubdir, subdir),
			Hint: "check what follows // in the source: it is a directory of the package, and versions may differ in which there are",
		}
	}
	return subdir, nil
}

// errNoSubdir says that a package hasn't got the directory of the module.
var errNoSubdir = errors.New("the package has no directory")

// publish puts packages into their places, and records them. Those that take the place of others are recorded at once: the
// run may fail.
func (w *walk) publish(stage stage, fetched []*step) {
	was := w.before
	if err := w.retract(fetched); err != nil {
		for _, s := range fetched {
			s.fail(notFetched(s, err))
		}
		return
	}
	for _, s := range fetched {
		if err := stage.publish(s.key, filepath.Join(w.Dir, s.key)); err != nil {
			s.fail(notFetched(s, err))
			continue
		}
		w.tree.Manifest.forget(s.key)
		s.record.Version = s.from.version
		s.record.Dir = path.Join(w.recordedDir(s.key), s.subdir)
		w.recordNow(s)
		if _, ok := was[s.key]; ok {
			w.before[s.key] = s.record
		}
	}
	if len(was) > 0 {
		_ = w.before.Save(w.Dir) // without it they are fetched again
	}
}

// retract takes out of modules.json what is about to be replaced: if the run
// ends before it is done, no record says of the new package that it is the old one.
func (w *walk) retract(replaced []*step) error {
	kept := Manifest{}
	for key, record := range w.before {
		kept[key] = record
	}
	for _, s := range replaced {
		delete(kept, s.key)
		kept.forget(s.key)
	}
	if len(kept) == len(w.before) {
		return nil
	}
	w.before = kept
	return kept.Save(w.Dir)
}

// recordedDir is the directory of a package, as it is to be recorded: relative
// to that of the root module. If only one of the two was given as an absolute path,
// and neither is in the other, it is absolute.
func (w *walk) recordedDir(key string) string {
	dir := filepath.Join(w.Dir, key)
	if filepath.Clean(w.root) == "." {
		return filepath.ToSlash(dir)
	}
	root, full, err := alike(w.root, dir)
	if err != nil {
		return filepath.ToSlash(dir)
	}
	rel, err := filepath.Rel(root, full)
	switch {
	case err != nil:
		return filepath.ToSlash(dir)
	case filepath.IsAbs(w.root) != filepath.IsAbs(w.Dir) && !filepath.IsLocal(rel):
		return filepath.ToSlash(full)
	}
	return filepath.ToSlash(rel)
}

// Fetcher gets packages from elsewhere. Package fetch has one that knows all
// that Terraform knows; programs that embed this package may bring their own.
type Fetcher interface {
	// Fetch makes the directory dst, which isn't there yet and whose parent is,
	// with the content of a package. It is called by many goroutines at once;
	// whatever the number of calls for one package, it is asked for once.
	Fetch(ctx context.Context, req FetchRequest, dst string) (Fetched, error)
}

// FetchRequest says what is to be fetched.
type FetchRequest struct {
	Package string // the address without a subdirectory: [Remote.Package]
	// Pin names what never changes, like "registry.example.com/acme/net/cloud 1.2.0":
	// a package that was fetched earlier for the same pin and address is as good
	// as one that is fetched now. "" says that it may have changed.
	Pin string
	// Commit is what a lock file says that the package was: the full ID of a
	// commit of a git repository. It counts only where the repository may not be
	// asked what the address means now. "": not known.
	Commit string
	// Own says that the user's own configuration has the address: only then does a profile in it count, and only then are the user's
	// credentials for s3 sent to any server that it names.
	Own    bool
	Served Served
	// Beside are the requests that are made at the same time, this one among them, so
	// that what several of them need can be asked for together; nil: not known. It
	// makes no difference to what is fetched.
	Beside *Requests
}

// Requests are made at the same time.
type Requests struct{ All []FetchRequest }

// Fetched is what is known of a package that was fetched.
type Fetched struct {
	Commit string // of a git repository, in full; "" for others
}
