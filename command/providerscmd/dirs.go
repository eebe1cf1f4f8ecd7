package providerscmd

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/roots"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache"
)

// directory is a directory with a configuration, and what that requires.
type directory struct {
	*workdir.Dir
	required getproviders.Requirements
	rules    sources.Policy
}

func (d directory) requires(p getproviders.Provider) bool {
	_, ok := d.required[p]
	return ok
}

// lockedHashes are those that the lock file has for a version.
func (d directory) lockedHashes(p getproviders.Provider, v getproviders.Version) []getproviders.Hash {
	if lock, ok := d.Locks.Provider(p); ok && lock.Version == v {
		return lock.Hashes
	}
	return nil
}

// reader reads directories, and fetches modules that aren't installed to a place
// that is removed, so that nothing in the directories changes.
type reader struct {
	*sources.Session
	temporary *scratch.Dir     // nil: not made yet
	modules   modules.Resolver // of all directories
	each      bool             // an error in a directory is one of it alone
}

// begin is what commands with a reader have in common: they find out for which product they work. The problems are with the options.
func begin(m *cli.Meta, problems problem.List) *reader {
	product, invalid := products.Choose(m)
	in := &reader{Session: sources.New(m, product, false)}
	in.Log.Add(append(problems, invalid...)...)
	return in
}

// end shows what the command reports, which may be nil, and all problems, and returns the exit code. The session is closed after that,
// because problems may show the sources of modules.
func (r *reader) end(report result.Result, out cli.Output) (code int) {
	code = r.Meta.Finish(report, r.Log.All, out)
	r.Close()
	if r.temporary != nil {
		r.temporary.Remove()
	}
	return code
}

// read finds the directories that -dir names, and what each of them requires and
// has locked. An error in one of them is one of all: half of an update is hard to
// review, unless each is set.
func (r *reader) read(o packageOptions) ([]directory, bool) {
	dirs, ok := r.load(o)
	if !ok && !r.each {
		return nil, false
	}
	var err error
	if r.temporary, err = scratch.Temporary(); err != nil {
		return nil, r.Log.Failed("module_package_failed", "Can't fetch modules", err)
	}
	r.modules = r.Modules()
	const many = 8 // at once; modules may have to be fetched
	found, _ := par.Map(r.Meta.Context, many, dirs, func(ctx context.Context, d *directory) (problem.List, error) {
		return r.require(ctx, d, filepath.Join(r.temporary.Path, strconv.Itoa(slices.Index(dirs, d)))), nil
	})
	all := make([]directory, len(dirs))
	for i, p := range found {
		all[i], ok = *dirs[i], r.Log.Add(p...)
	}
	if ok && r.Meta.Context.Err() != nil {
		return nil, r.Log.Fail("interrupted", "Interrupted", "Nothing was changed.")
	}
	return all, ok
}

// load reads the root modules.
func (r *reader) load(o packageOptions) (dirs []*directory, ok bool) {
	given := []roots.Root{{Dir: "."}}
	if o.roots.Refuse(r.Log); o.roots.Given() {
		given, _ = o.roots.Find(r.Meta, r.Product, nil, r.Log)
	}
	for _, g := range given {
		d := &directory{Dir: workdir.Load(r.Meta, r.Product, g.Dir, o.modules)}
		if !d.Empty() || !o.roots.Given() && !r.each {
			d.rules, _ = r.PolicyOf(g.Dir, o.policies)
			dirs = append(dirs, d)
			continue
		}
		empty := d.NoConfiguration(g.Dir)
		if !o.roots.Given() {
			empty.Detail += " To look at the root modules below it, use -recursive."
		}
		r.Log.Add(empty)
	}
	return dirs, r.Log.Add()
}

// require finds out what a directory requires. Modules that are recorded are used
// where they are; others are fetched to the temporary directory.
func (r *reader) require(ctx context.Context, d *directory, temporary string) problem.List {
	manifest, err := modules.ReadManifest(nil, workdir.In(d.Path, workdir.ModulesDir(r.Meta.Env)), r.Product)
	if err != nil {
		return problem.Failed("module_record", "failed to read module manifest", err)
	}
	installer := r.modules
	installer.Dir, installer.Allow = temporary, d.rules.AllowsModule()
	d.InstallModules(ctx, installer, manifest)
	problems := products.ExplainVersion(r.Meta, r.Product, d.Problems())
	if problems.HasErrors() {
		return problems
	}
	var invalid problem.List
	d.required, invalid = d.Tree.Requirements()
	problems = slices.Concat(problems, invalid, d.LoadLocks())
	return append(problems, d.Disinherit(d.required)...)
}

// request says what a directory needs: of the providers named, or if there are
// none, of all.
func (d directory) request(o packageOptions, only []getproviders.Provider) providercache.LockRequest {
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
