package modules

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"runtime"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/par"
)

// Mode says what becomes of modules that are recorded.
type Mode int

const (
	// Normal keeps a recorded module as long as it is what the call asks for.
	Normal Mode = iota
	// Upgrade keeps none.
	Upgrade
	// AsRecorded takes the modules that are recorded, and records none.
	AsRecorded
)

// Resolver finds the modules of a tree, and fetches those that have to be. It is a
// plain struct: set the fields, and use it as often as needed, for one tree at a
// time in each Dir. Its methods don't change it.
//
// It differs from Terraform on purpose: what modules may reach; a module that
// calls itself, directly or through others, is an error instead of a tree without end; a
// subdirectory may not be "..", however it is written; all of a tree's problems are
// reported at once, in the order of the tree; where a module is for other versions
// of the product, that is the only problem of the whole tree; events come level
// by level; local modules of a configuration that was begun with a copy are
// recorded to be where they were copied to; a prerelease is chosen wherever a
// term of the constraint names it, also with "=" and a space; where a registry
// said that a version is, it is looked for there in later runs.
type Resolver struct {
	// Dir is the directory of modules.json, ".terraform/modules": absolute, or
	// relative to the working directory of the process, whatever the root module's
	// directory is.
	Dir     string
	Product getproviders.Product
	Mode    Mode

	// DryRun fetches and writes nothing. What would be fetched is told by Planned events; its calls are those of
	// the module that is recorded under the same key with the same source, else unknown. Registries are asked for versions.
	DryRun bool

	// FS is where the root module, Dir and all modules are, such as an editor's buffers; nil:
	// the file system of the process. In an FS all paths have slashes and lead nowhere out of it.
	// Nothing is written or fetched then: modules with a path are taken where they are,
	// recorded or not, and all others have to be recorded. If it has symlinks, it should be an
	// [fs.ReadLinkFS]: where it isn't, no path may lead through one.
	FS fs.FS

	// WorkingDir is what expressions in modules know as path.cwd; "" is unknown.
	WorkingDir string

	// HomeDir is what "~" stands for where functions in expressions read files; "" is unknown.
	HomeDir string

	// Workspace is what they know as terraform.workspace, in products that evaluate it; "" is unknown.
	Workspace string

	// CopiedFrom is the source address that the root module was copied from by
	// [Resolver.Populate] just now, before the user could look at it: it may reach no
	// more than a module that is called by that address. "": it is the user's own.
	CopiedFrom string

	// Locked are the versions of registries' modules that are to be taken again,
	// by key, wherever source and constraint still allow it and nothing is upgraded.
	Locked map[string]Record
	// Commits are those that modules from git repositories had, by key, for a
	// Fetcher that can't ask: see [FetchRequest].
	Commits map[string]string

	// Allow is asked about each call that isn't by a path, with the constraint on its version, before anything is asked for: an error
	// refuses it. nil: all are allowed.
	Allow func(address Address, constraint string) error

	Fetcher    Fetcher     // nil: modules that would have to be fetched are errors
	Registries *Registries // nil: so are modules of registries

	// Observe gets what happens, in an order that doesn't change from run to run;
	// nil: events are dropped. The calls of one Resolve come one after the other.
	Observe func(Event)

	most int // modules in a tree; 0: maxModules
}

// maxModules bounds a tree: modules that call two others each, a few dozen
// levels deep, would be more than any machine can hold. The largest
// configurations have a thousand.
const maxModules = 10_000

// Resolve walks the tree below a root module, level by level: the modules that
// are on one level are asked for and fetched all at once. Directories in
// records are relative to the root module's.
//
// What is fetched is put into its place below Dir at once. Where something
// else was recorded to be there, that is taken out of modules.json before;
// apart from that, modules.json is as it was until [Tree.Save].
//
// The tree is never nil, and as complete as can be if there are problems:
// those of the modules below the root and their calls, those of the root's
// calls, but not those of the root itself. A tree with errors is not to be
// saved.
func (in Resolver) Resolve(ctx context.Context, root *load.Module, manifest Manifest) (*Tree, hcl.Diagnostics) {
	w := walk{Resolver: in, ctx: ctx, root: root.Dir, before: manifest, tree: &Tree{
		Manifest: maps.Clone(manifest),
		root:     root.Dir,
		dir:      in.Dir,
		unsaved:  in.Mode != AsRecorded && in.FS == nil && len(root.Calls)+len(root.TestRuns) > 0,
	}}
	if w.tree.Manifest == nil {
		w.tree.Manifest = Manifest{}
	}
	top := &step{child: &Module{Record: Record{Dir: "."}, Config: root}}
	if from, err := ParseAddress(in.CopiedFrom, in.Product); in.CopiedFrom != "" && (err != nil || isForeign(from)) {
		top.child.pkg, top.child.pkgDir, top.child.foreign = in.CopiedFrom, ".", true
	}
	w.descend(top)
	return w.tree, top.collect(w.tree, w.ended)
}

// walk is one walk through a tree.
type walk struct {
	Resolver
	ctx    context.Context
	root   string   // the directory of the root module
	before Manifest // what was recorded when the walk began
	tree   *Tree
	count  int             // of modules so far
	ended  hcl.Diagnostics // why the walk ended early
}

// descend goes down from the root, one level after the other.
func (w *walk) descend(top *step) {
	w.count = 1
	for level := top.below(); len(level) > 0 && !w.stop(len(level)); {
		w.findLevel(level)
		if w.DryRun {
			w.plan(level)
		} else {
			w.fetch(level)
		}
		w.load(level)
		var next []*step
		for _, s := range level {
			next = append(next, s.below()...)
		}
		w.count += len(level)
		level = next
	}
	w.stop(0) // the last level may have been broken off
}

// stop reports whether to go no further, to a level with more modules.
func (w *walk) stop(more int) bool {
	switch {
	case len(w.ended) > 0:
	case w.ctx.Err() != nil:
		w.ended = hcl.Diagnostics{canceled()}
	case w.count+more > cmp.Or(w.most, maxModules):
		w.ended = hcl.Diagnostics{tooMany(cmp.Or(w.most, maxModules))}
	}
	return len(w.ended) > 0
}

func (w *walk) emit(e Event) {
	if w.Observe != nil {
		w.Observe(e)
	}
}

// load reads the modules of a level, wherever they are.
func (w *walk) load(level []*step) {
	var found []*step
	for _, s := range level {
		if !s.failed() && w.newModule(s) {
			found = append(found, s)
		}
	}
	type loaded struct {
		config *load.Module
		diags  hcl.Diagnostics
	}
	all, errs := par.Map(w.ctx, runtime.GOMAXPROCS(0), found, func(ctx context.Context, s *step) (l loaded, err error) {
		opts := load.Options{FS: w.FS, Path: s.path, Source: shown(s.address), Inputs: s.call.Inputs, RootDir: w.root, WorkingDir: w.WorkingDir, HomeDir: w.HomeDir, Workspace: w.Workspace}
		if !s.isRun { // a test gives it values, which aren't known here
			opts.Called = s.call.Range
		}
		if s.child.foreign {
			opts.Within = w.at(s.child.pkgDir)
		}
		l.config, l.diags = load.LoadModuleContext(ctx, w.at(s.record.Dir), w.Product, opts)
		return l, nil
	})
	for i, s := range found {
		if errs[i] == nil { // else the walk is about to be stopped
			s.child.Config, s.child.broken = all[i].config, all[i].diags.HasErrors()
			s.problems = append(s.problems, all[i].diags...)
		} else {
			s.child = nil
		}
	}
}

// newModule makes the module of a step, which isn't loaded yet.
func (w *walk) newModule(s *step) bool {
	child := &Module{Record: s.record}
	if !s.isRun { // a test may run what calls the root module
		child.caller, child.call = s.parent, s.call
		child.parents = append(slices.Clip(s.parent.parents), s.parent.Dir)
	}
	child.setPackage(s.parent, s.address, w.recordedDir(s.key))
	child.commit = s.fetched.Commit
	if child.isRepeated() {
		s.fail(repeated(s.call, child))
		return false
	}
	s.child = child
	return true
}

// Event is something that happened while a tree was walked: one of the types
// of this file.
type Event any

// Downloading comes when a package is going to be fetched for a module.
type Downloading struct {
	Key     string
	Package string // the address, without secrets
	Version string // of a registry's module; "" for others
}

// Planned comes in place of Downloading with [Resolver.DryRun].
type Planned struct {
	Downloading
	Code OutdatedCode // why it would be fetched
	Was  string       // the version that is recorded; "": none
	// Certain says that what the module calls and requires is known: it is there in the same version.
	Certain bool
}

// Recorded comes when a module is in its place that was recorded otherwise, or
// not at all.
type Recorded struct{ Record }
