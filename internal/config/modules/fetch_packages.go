package modules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/par"
)

// atOnce bounds concurrent registry queries and fetches. Fetcher and client have their own limits.
const atOnce = 32

// locateAll finds the packages of modules.
func (in Resolver) locateAll(ctx context.Context, level []*step) {
	warnings, errs := par.Map(ctx, atOnce, level, func(ctx context.Context, s *step) (warnings []string, err error) {
		s.from, warnings, err = in.locate(ctx, s.address, s.constraint)
		s.from.own = s.from.own && !s.parent.foreign
		s.from.commit = s.commit
		return warnings, err
	})
	for i, s := range level {
		for _, text := range warnings[i] {
			s.fail(diagnostic.Warning(s.call.SourceRange, "Module registry returned an invalid version", "%s", text))
		}
		if s.from.unasked {
			s.fail(diagnostic.Warning(s.call.SourceRange, "Version chosen offline among local packages",
				"The module %q gets %s %s, which is remembered. Its registry wasn't asked, and may have another version that the call allows.",
				s.call.Name, s.from.registry.Package(), s.from.version))
		}
		if errs[i] != nil {
			s.fail(unlocated(ctx, s, errs[i], in.Hint))
		}
	}
}

// locate finds the package of an address.
func (in Resolver) locate(ctx context.Context, address Address, constraint string) (from packageSource, _ []string, err error) {
	switch address := address.(type) {
	case Remote:
		return packageSource{remote: address, own: true}, nil, nil
	case Registry:
		if in.Registries == nil {
			return from, nil, fmt.Errorf("there is nothing to ask registries with about %s", address)
		}
		choice, err := in.Registries.Select(ctx, address, constraint)
		if err != nil {
			return from, choice.Warnings, err
		}
		from := packageSource{registry: address, version: choice.Version, unasked: choice.Unasked}
		if !in.DryRun { // Locate would write its answer to the store
			from.pin = address.Package() + " " + choice.Version
			from.remote, err = in.Registries.Locate(ctx, address, choice.Version, false)
		}
		return from, choice.Warnings, err
	default:
		return from, nil, fmt.Errorf("%s can't be fetched", address)
	}
}

// fetchAll fetches the missing packages concurrently, and publishes them.
func (in Resolver) fetchAll(ctx context.Context, tree *Tree, level []*step) {
	var missing []*step
	beside := new(Requests)
	for _, s := range level {
		if !s.failed() && s.record.Dir == "" {
			missing = append(missing, s)
			beside.All = append(beside.All, s.from.request())
			in.Observe(Downloading{Key: s.key, Package: shownPackage(s), Version: s.from.version})
		}
	}
	if len(missing) == 0 {
		return
	}
	var stage stage
	if !in.Look {
		var err error
		if stage, err = newStage(tree.at.dir); err != nil {
			for _, s := range missing {
				s.fail(notFetched(s, err, in.Hint))
			}
			return
		}
		defer stage.remove()
	}
	_, errs := par.Map(ctx, atOnce, missing, func(ctx context.Context, s *step) (_ struct{}, err error) {
		s.from.beside, s.from.inPlace = beside, in.Look
		dst := ""
		if !in.Look {
			dst = stage.at(s.key)
		}
		s.fetched, s.subdir, err = in.fetch(ctx, s.from, dst)
		return struct{}{}, err
	})
	var fetched []*step
	for i, s := range missing {
		if errs[i] == nil {
			fetched = append(fetched, s)
		} else if ctx.Err() != nil {
			s.fail(done[0])
		} else {
			s.fail(notFetched(s, errs[i], in.Hint))
		}
	}
	if in.Look {
		in.recordInPlace(tree, fetched)
	} else {
		in.publishAll(tree, stage, fetched)
	}
}

// recordInPlace records packages in the tree alone.
func (in Resolver) recordInPlace(tree *Tree, fetched []*step) {
	for _, s := range fetched {
		tree.Manifest.forget(s.key)
		s.record.Version = s.from.version
		s.record.Dir = filepath.ToSlash(filepath.Join(s.fetched.Dir, s.subdir))
		tree.Manifest[s.key] = s.record
		in.Observe(Recorded{s.record})
	}
}

// fetch fetches a package, and finds the module in it. The location may be cached from an earlier run and
// outdated: if the fetch fails, the registry is asked again.
func (in Resolver) fetch(ctx context.Context, from packageSource, dst string) (fetched Fetched, subdir string, err error) {
	if in.Fetcher == nil {
		return Fetched{}, "", errors.New("a Resolver needs a Fetcher")
	}
	fetched, err = in.Fetcher.Fetch(ctx, from.request(), dst)
	if err != nil && from.version != "" && ctx.Err() == nil {
		if remote, again := in.Registries.Locate(ctx, from.registry, from.version, true); again == nil && remote != from.remote {
			from.remote = remote
			fetched, err = in.Fetcher.Fetch(ctx, from.request(), dst)
		}
	}
	if err == nil {
		subdir, err = findSubdir(cmp.Or(fetched.Dir, dst), from)
	}
	return fetched, subdir, err
}

// Again gets a recorded package of a git repository once more, as its address leads to it now: where it is, and its commit. Both are
// "" for other packages.
func (in Resolver) Again(ctx context.Context, r Record) (Fetched, error) {
	address, err := parseComplete(r.Source)
	if err != nil {
		return Fetched{}, err
	}
	from, _, err := in.locate(ctx, address, r.Version)
	if err != nil || !strings.HasPrefix(from.remote.Package, "git::") {
		return Fetched{}, err
	}
	from.inPlace = true
	fetched, _, err := in.fetch(ctx, from, "")

	return fetched, err
}

// findSubdir returns the module's directory in its package.
func findSubdir(dir string, from packageSource) (string, error) {
	if from.remote.Subdir == "" {
		return "", nil
	}
	subdir, _, err := FindSubdir(dir, from.remote.Subdir, "", from.version == "") // a registry's subdirectory is a name, not a pattern
	if errors.Is(err, ErrNoSubdir) {
		err = &getproviders.Fault{Code: "module_package_not_found", Err: err, Hint: "check what follows // in the source: it has to be a directory of the package, and other versions may have others"}
	}
	return subdir, err
}

// publishAll publishes packages, and records them. Packages that replace others are recorded in modules.json immediately,
// because the run may still fail.
func (in Resolver) publishAll(tree *Tree, stage stage, fetched []*step) {
	was := tree.before
	if err := retract(tree, fetched); err != nil {
		for _, s := range fetched {
			s.fail(notFetched(s, err, in.Hint))
		}
		return
	}
	for _, s := range fetched {
		if err := stage.publish(s.key, filepath.Join(tree.at.dir, s.key)); err != nil {
			s.fail(notFetched(s, err, in.Hint))
			continue
		}
		tree.Manifest.forget(s.key)
		s.record.Version = s.from.version
		s.record.Dir = path.Join(tree.at.recordedDir(s.key), s.subdir)
		tree.Manifest[s.key] = s.record
		in.Observe(Recorded{s.record})
		if _, ok := was[s.key]; ok {
			tree.before[s.key] = s.record
		}
	}
	if len(was) > 0 {
		_ = tree.before.Save(tree.at.dir) // if it fails, they are fetched again
	}
}

// retract removes records from modules.json before their packages are replaced: if the run is
// interrupted, no record describes the new package as the old one.
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

// plan reports which modules of a level would be fetched. If a module with the same source is recorded, its
// calls are used for the one that would be fetched.
func plan(tree *Tree, level []*step, tell func(Event)) {
	for _, s := range level {
		if s.failed() || s.record.Dir != "" {
			continue
		}
		recorded := tree.before[s.key]
		there := recorded.Source == s.address.String() && tree.at.isDir(recorded.Dir)
		planned := Planned{Downloading: Downloading{Key: s.key, Package: shownPackage(s), Version: s.from.version}, Was: recorded.Version, Code: s.unfit(recorded)}
		if planned.Code == "" {
			if planned.Code = Absent; there {
				planned.Code = Upgraded
			}
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
