package providerscmd

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/roots"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache"
)

// directory is a directory with a configuration, and its requirements and rules.
type directory struct {
	*workdir.Dir
	required getproviders.Requirements
	rules    sources.Policy
}

func (d directory) requires(p getproviders.Provider) bool {
	_, ok := d.required[p]
	return ok
}

// lockedHashes returns the hashes that the lock file has for a version.
func (d directory) lockedHashes(p getproviders.Provider, v getproviders.Version) []getproviders.Hash {
	if lock, ok := d.Locks.Provider(p); ok && lock.Version == v {
		return lock.Hashes
	}
	return nil
}

// read returns the directories of -dir with their requirements and locks.
// An error in one of them stops all, because half of an update is hard to
// review; with each set, the others continue. Modules that aren't installed are read where the fetcher has them, so that the directories don't
// change, and many directories share one copy.
func (o *packageOptions) read() ([]directory, bool) {
	dirs, ok := o.load()
	if !ok && !o.each {
		return nil, false
	}
	installer := o.Modules()
	installer.Look = true
	const many = 8 // at once, because modules may have to be fetched
	found, _ := par.Map(o.Meta.Context, many, dirs, func(ctx context.Context, d *directory) (problem.List, error) {
		return o.require(ctx, d, installer), nil
	})
	all := make([]directory, len(dirs))
	for i, p := range found {
		all[i], ok = *dirs[i], o.Log.Add(p...)
	}
	if ok && o.Meta.Context.Err() != nil {
		return nil, o.Log.Fail("interrupted", "Interrupted", "Nothing was changed.")
	}
	return all, ok
}

// load reads the root modules.
func (o *packageOptions) load() (dirs []*directory, ok bool) {
	given := []roots.Root{{Dir: "."}}
	if o.roots.Refuse(o.Meta, o.Log); o.roots.Given() {
		found, _ := o.roots.Find(o.Meta, o.Product, nil, o.Log)
		given = found.Roots
	}
	for _, g := range given {
		d := &directory{Dir: workdir.Load(o.Meta, o.Product, g.Dir, o.modules)}
		switch {
		case !d.Empty() || !o.roots.Given() && o.mayBeEmpty:
			d.rules, _ = o.PolicyOf(g.Dir, o.policies)
			dirs = append(dirs, d)
		case o.roots.Given():
			o.Log.Add(d.NoConfiguration(g.Dir))
		default:
			o.Log.Add(o.roots.NoConfiguration(o.Meta, o.Product, cmp.Or(o.many, roots.ForAll)))
		}
	}
	return dirs, o.Log.Add()
}

// require finds out what a directory requires. Installed modules are used
// in their place.
func (o *packageOptions) require(ctx context.Context, d *directory, installer modules.Resolver) problem.List {
	installer.Dir = workdir.In(d.Path, workdir.ModulesDir(o.Meta.Env))
	installer.Allow = d.rules.AllowsModule()
	manifest, err := modules.ReadManifest(nil, installer.Dir, o.Product)
	if err != nil {
		return problem.Failed("module_record", "failed to read module manifest", err)
	}
	d.InstallModules(ctx, installer, manifest)
	problems := products.ExplainVersion(o.Meta, o.Product, d.Problems())
	if problems.HasErrors() {
		return problems
	}
	var invalid problem.List
	d.required, invalid = d.Tree.Requirements()
	problems = slices.Concat(problems, invalid, d.LoadLocks())
	return append(problems, d.Disinherit(d.required)...)
}

// placeIn returns the place of a constraint in a module. A file of a package that isn't installed is named by the path in the package.
func placeIn(tree *modules.Tree, m *modules.Module, constraint, file string, line int) result.Holder {
	place := result.Holder{Constraint: constraint, File: file, Line: line}
	pkg, version, root, ok := tree.Lent(m)
	if !ok {
		return place
	}

	place.Package = modules.Redact(pkg)
	if version != "" {
		place.Package += " " + version
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return place
	}
	inside, err := filepath.Rel(root, filepath.Join(dir, filepath.Base(file)))
	if err == nil {
		place.File = inside
	}
	return place
}

// request returns what a directory needs of the providers in only, or of all providers if only
// is empty.
func (o *packageOptions) request(d directory, only []getproviders.Provider) providercache.LockRequest {
	required := maps.Clone(d.required)
	maps.DeleteFunc(required, func(p getproviders.Provider, _ []getproviders.Requirement) bool { return p.IsBuiltIn() })
	request := providercache.LockRequest{
		Requirements: required, Locks: d.Locks, Platforms: o.platforms, AllPlatforms: o.allPlatforms,
	}
	if len(only) > 0 {
		request.Only = []getproviders.Provider{}
		for _, p := range only {
			if _, ok := required[p]; ok && !slices.Contains(request.Only, p) {
				request.Only = append(request.Only, p)
			}
		}
	}
	return request
}

// wanted returns what the directories say of providers that turn out not to exist.
func (o *packageOptions) wanted(dirs []directory) sources.Wanted {
	all := sources.Wanted{Required: getproviders.Requirements{}, MirrorsHint: sources.OnlyMirrors}
	for _, d := range dirs {
		all.Required = all.Required.Merge(d.required)
		all.Locks = append(all.Locks, d.Locks)
	}

	all.Cache, _ = sources.OpenCache(o.Meta, o.Config) // a warning about it belongs to commands that use it

	return all
}
