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

	"github.com/tfdeps/tfdeps/getproviders/par"
)

// atOnce bounds how many questions are asked and packages awaited at once.
// Fetcher and client have bounds of their own.
const atOnce = 32

// origin is where the package of a module is fetched from.
type origin struct {
	remote  Remote // its subdirectory is the module's
	pin     string // see [FetchRequest]
	literal bool   // the subdirectory is a name: a registry's can't be a pattern

	registry Registry // who told it, if it was one
	version  string   // of its module
	unasked  bool     // see [Choice]
	commit   string   // see [FetchRequest]
	beside   *Requests
}

// locate finds out where the packages of modules are.
func (w *walk) locate(level []*step) {
	warnings, errs := par.Map(w.ctx, atOnce, level, func(ctx context.Context, s *step) (hcl.Diagnostics, error) {
		from, warnings, err := w.origin(ctx, s.address, w.constraint(s))
		s.origin = from
		s.origin.commit = w.commit(s)
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

// origin finds out where the package of an address is.
func (in *Installer) origin(ctx context.Context, address Address, constraint string) (origin, []string, error) {
	switch address := address.(type) {
	case Remote:
		return origin{remote: address}, nil, nil
	case Registry:
		if in.Registries == nil {
			return origin{}, nil, errNoRegistries
		}
		choice, err := in.Registries.Select(ctx, address, constraint)
		if err != nil {
			return origin{}, choice.Warnings, err
		}
		remote, err := in.Registries.Locate(ctx, address, choice.Version)
		pin := address.Package() + " " + choice.Version
		return origin{registry: address, remote: remote, version: choice.Version, unasked: choice.Unasked, pin: pin, literal: true}, choice.Warnings, err
	default:
		return origin{}, nil, fmt.Errorf("%s can't be fetched", address)
	}
}

// Errors of an Installer that isn't made for what it is asked for.
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
			w.emit(Downloading{Key: s.key, Package: shownPackage(s), Version: s.origin.version})
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
		beside.All = append(beside.All, s.origin.request())
	}
	_, errs := par.Map(w.ctx, atOnce, missing, func(ctx context.Context, s *step) (struct{}, error) {
		s.origin.beside = beside
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

// fetchOne gets the package of a module, and finds the module in it.
func (w *walk) fetchOne(ctx context.Context, s *step, dst string) (err error) {
	if s.fetched, err = w.get(ctx, &s.origin, dst); err != nil {
		return err
	}
	s.subdir, err = findSubdir(dst, s.origin)
	return err
}

// get fetches a package. Where a registry said that it is may be remembered from
// an earlier run, and not hold any more: then the registry is asked again.
func (in *Installer) get(ctx context.Context, from *origin, dst string) (Fetched, error) {
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

func (o origin) request() FetchRequest {
	return FetchRequest{Package: o.remote.Package, Pin: o.pin, Commit: o.commit, Beside: o.beside}
}

// findSubdir finds the module in its package.
func findSubdir(dir string, from origin) (string, error) {
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
	case err != nil || !isDir(found):
		return "", &noSubdirError{subdir}
	}
	return subdir, nil
}

// noSubdirError says that a package hasn't got the directory of the module.
type noSubdirError struct{ subdir string }

func (e *noSubdirError) Error() string {
	return fmt.Sprintf("the package has no directory %q", e.subdir)
}

// publish puts packages into their places, and records them.
func (w *walk) publish(stage stage, fetched []*step) {
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
		s.record.Version = s.origin.version
		s.record.Dir = path.Join(w.recordedDir(s.key), s.subdir)
		w.recordNow(s)
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
