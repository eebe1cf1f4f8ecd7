package modules

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/files"
	"github.com/tfdeps/tfdeps/internal/par"
)

// atOnce bounds how many questions are asked and packages awaited at once.
// Fetcher and client have bounds of their own.
const atOnce = 32

// packages are got from where registries and addresses say that they are.
type packages struct {
	fetcher    Fetcher
	registries *Registries
	dryRun     bool
}

// locateAll finds out where the packages of modules are.
func (p packages) locateAll(ctx context.Context, level []*step) {
	warnings, errs := par.Map(ctx, atOnce, level, func(ctx context.Context, s *step) (warnings []string, err error) {
		s.from, warnings, err = p.locate(ctx, s.address, s.constraint)
		s.from.own = s.from.own && !s.parent.foreign
		s.from.commit = s.commit
		return warnings, err
	})
	for i, s := range level {
		for _, text := range warnings[i] {
			s.fail(diagnostic.Warning(s.call.SourceRange, "Module registry returned an invalid version", "%s", text))
		}
		if s.from.unasked {
			s.fail(chosenOffline(s))
		}
		if errs[i] != nil {
			s.fail(unlocated(ctx, s, errs[i]))
		}
	}
}

// locate finds out where the package of an address is.
func (p packages) locate(ctx context.Context, address Address, constraint string) (from packageSource, _ []string, err error) {
	switch address := address.(type) {
	case Remote:
		return packageSource{remote: address, own: true}, nil, nil
	case Registry:
		if p.registries == nil {
			return from, nil, fmt.Errorf("there is nothing to ask registries with about %s", address)
		}
		choice, err := p.registries.Select(ctx, address, constraint)
		if err != nil {
			return from, choice.Warnings, err
		}
		from := packageSource{registry: address, version: choice.Version, unasked: choice.Unasked}
		if !p.dryRun { // where it is would be remembered
			from.pin = address.Package() + " " + choice.Version
			from.remote, err = p.registries.Locate(ctx, address, choice.Version)
		}
		return from, choice.Warnings, err
	default:
		return from, nil, fmt.Errorf("%s can't be fetched", address)
	}
}

// fetchAll gets the packages of those modules that aren't there, all at once, and
// puts them into their places.
func (p packages) fetchAll(ctx context.Context, tree *Tree, level []*step, tell func(Event)) {
	var missing []*step
	beside := new(Requests)
	for _, s := range level {
		if !s.failed() && s.record.Dir == "" {
			missing = append(missing, s)
			beside.All = append(beside.All, s.from.request())
			tell(Downloading{Key: s.key, Package: shownPackage(s), Version: s.from.version})
		}
	}
	if len(missing) == 0 {
		return
	}
	stage, err := newStage(tree.at.dir)
	if err != nil {
		for _, s := range missing {
			s.fail(notFetched(s, err))
		}
		return
	}
	defer stage.remove()
	_, errs := par.Map(ctx, atOnce, missing, func(ctx context.Context, s *step) (_ struct{}, err error) {
		s.from.beside = beside
		s.fetched, s.subdir, err = p.fetch(ctx, s.from, stage.at(s.key))
		return struct{}{}, err
	})
	var fetched []*step
	for i, s := range missing {
		if errs[i] == nil {
			fetched = append(fetched, s)
		} else if ctx.Err() != nil {
			s.fail(done[0])
		} else {
			s.fail(notFetched(s, errs[i]))
		}
	}
	publish(tree, stage, fetched, tell)
}

// fetch fetches a package, and finds the module in it. Where a registry said that it is may be remembered from
// an earlier run, and not hold any more: then the registry is asked again.
func (p packages) fetch(ctx context.Context, from packageSource, dst string) (fetched Fetched, subdir string, err error) {
	if p.fetcher == nil {
		return Fetched{}, "", errors.New("there is nothing to fetch it with")
	}
	fetched, err = p.fetcher.Fetch(ctx, from.request(), dst)
	if err != nil && from.version != "" && ctx.Err() == nil {
		if remote, again := p.registries.Relocate(ctx, from.registry, from.version); again == nil && remote != from.remote {
			from.remote = remote
			fetched, err = p.fetcher.Fetch(ctx, from.request(), dst)
		}
	}
	if err == nil {
		subdir, err = findSubdir(dst, from)
	}
	return fetched, subdir, err
}

// findSubdir finds the module in its package.
func findSubdir(dir string, from packageSource) (string, error) {
	subdir := from.remote.Subdir
	if subdir == "" {
		return "", nil
	}
	if from.version == "" { // what a registry says is a name, and no pattern
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

// publish puts packages into their places, and records them. Those that take the place of others are recorded at once: the
// run may fail.
func publish(tree *Tree, stage stage, fetched []*step, tell func(Event)) {
	was := tree.before
	if err := retract(tree, fetched); err != nil {
		for _, s := range fetched {
			s.fail(notFetched(s, err))
		}
		return
	}
	for _, s := range fetched {
		if err := stage.publish(s.key, filepath.Join(tree.at.dir, s.key)); err != nil {
			s.fail(notFetched(s, err))
			continue
		}
		tree.Manifest.forget(s.key)
		s.record.Version = s.from.version
		s.record.Dir = path.Join(tree.at.recordedDir(s.key), s.subdir)
		tree.Manifest[s.key] = s.record
		tell(Recorded{s.record})
		if _, ok := was[s.key]; ok {
			tree.before[s.key] = s.record
		}
	}
	if len(was) > 0 {
		_ = tree.before.Save(tree.at.dir) // without it they are fetched again
	}
}

// retract takes out of modules.json what is about to be replaced: if the run
// ends before it is done, no record says of the new package that it is the old one.
func retract(tree *Tree, replaced []*step) error {
	kept := maps.Clone(tree.before)
	for _, s := range replaced {
		delete(kept, s.key)
		kept.forget(s.key)
	}
	if len(kept) == len(tree.before) {
		return nil
	}
	tree.before = kept
	return kept.Save(tree.at.dir)
}

// plan tells which modules of a level would be fetched. Those that are recorded with the same source stand for
// what would be fetched.
func plan(tree *Tree, level []*step, tell func(Event)) {
	for _, s := range level {
		if s.failed() || s.record.Dir != "" {
			continue
		}
		recorded, known := tree.before[s.key]
		there := known && recorded.Source == s.address.String() && tree.at.isDir(recorded.Dir)
		planned := Planned{Downloading: Downloading{Key: s.key, Package: shownPackage(s), Version: s.from.version}, Was: recorded.Version, Code: Absent}
		switch {
		case known && recorded.Source != s.address.String():
			planned.Code = SourceChanged
		case known && !recorded.satisfies(s.call.Version):
			planned.Code = VersionChanged
		case there:
			planned.Code = Upgraded
		}
		planned.Certain = there && s.from.version != "" && recorded.Version == s.from.version
		tell(planned)
		if s.recorded = recorded; there && !s.strays(tree.at) {
			s.record = recorded
		} else {
			s.problems = append(s.problems, done...)
		}
	}
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
