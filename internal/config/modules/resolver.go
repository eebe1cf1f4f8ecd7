package modules

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/files"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/dialect"
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
// Modules are loaded as the root module was, see [load.Options]. If that is in an FS, such as an editor's buffers,
// nothing is written or fetched: modules with a path are taken where they are,
// recorded or not, and all others have to be recorded. If it has symlinks, it should be an
// [fs.ReadLinkFS]: where it isn't, no path may lead through one.
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

	// Hint says what to do about an error, as the end of an explanation; nil: what its first hint says.
	Hint func(error) string

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
	tree := &Tree{
		Manifest: Manifest{},
		before:   manifest,
		at:       places{root.Dir, in.Dir, files.System{FS: root.Options.FS}},
		unsaved:  in.Mode != AsRecorded && root.Options.FS == nil && len(root.Calls)+len(root.TestRuns) > 0,
	}
	maps.Copy(tree.Manifest, manifest)
	if in.Observe == nil {
		in.Observe = func(Event) {}
	}
	top := &step{child: &Module{Record: Record{Dir: "."}, Config: root}}
	if from, err := ParseAddress(in.CopiedFrom, in.Product); in.CopiedFrom != "" && (err != nil || isForeign(from)) {
		top.child.pkg, top.child.pkgDir, top.child.foreign = in.CopiedFrom, ".", true
	}
	ended := in.descend(ctx, tree, top)
	return tree, top.collect(tree, ended)
}

// descend goes down from the root, one level after the other, and returns why it ended early.
func (in Resolver) descend(ctx context.Context, tree *Tree, top *step) hcl.Diagnostics {
	most := cmp.Or(in.most, maxModules)
	count := 1
	for level := top.below(); len(level) > 0 && ctx.Err() == nil; {
		if count += len(level); count > most {
			return hcl.Diagnostics{diagnostic.Placeless("Too many modules", "The configuration has more than %d modules, counting each call of one.", most)}
		}
		var open []*step
		for _, s := range level {
			if !s.failed() {
				s.fail(in.find(tree, s))
			}
			if !s.failed() && s.record.Dir == "" {
				open = append(open, s)
			}
		}
		in.locateAll(ctx, open)
		if in.DryRun {
			plan(tree, level, in.Observe)
		} else {
			in.fetchAll(ctx, tree, level)
		}
		in.load(ctx, tree, level)
		var next []*step
		for _, s := range level {
			next = append(next, s.below()...)
		}
		level = next
	}
	if ctx.Err() != nil {
		return hcl.Diagnostics{diagnostic.Coded("interrupted", diagnostic.Placeless("Module installation was canceled by an interrupt signal.", "Nothing was recorded."))}
	}
	return nil
}

// find looks for the module of a call in the record, and where it may not be
// kept, among the directories if its source is one.
func (in Resolver) find(tree *Tree, s *step) (diag *hcl.Diagnostic) {
	address, err := ParseAddress(s.call.Source, in.Product)
	if s.call.VersionRange != (hcl.Range{}) { // only registries have versions
		address, err = ParseRegistry(s.call.Source, in.Product)
	}
	if err != nil {
		return invalidSource(s.call, err)
	}
	s.address = address
	if _, isRemote := address.(Remote); isRemote && s.isRun && !dialect.Of(in.Product).Understands("remote_runs") {
		return diagnostic.Coded("invalid_module_source", diagnostic.Error(s.call.SourceRange, invalidAddress,
			"The module of a run has to be a local one, or from a registry. A test can run a local module that calls %s.", Redact(address.String())))
	}
	if diag := checkReach(s); diag != nil {
		return diag
	}
	local, isLocal := address.(Local)
	if in.Allow != nil && !isLocal {
		if err := in.Allow(address, s.call.Version); err != nil {
			return diagnostic.Coded("refused_by_policy", diagnostic.Error(s.call.SourceRange, refusedByPolicy, "The module %q can't be used: %v.", s.call.Name, err))
		}
	}
	s.constraint = s.call.Version
	if locked := in.Locked[s.key]; in.Mode == Normal && locked.Source == address.String() {
		s.commit = in.Commits[s.key]
		if locked.Version != "" && locked.satisfies(s.call.Version) {
			s.constraint = locked.Version
		}
	}
	s.recorded = tree.Manifest[s.key]
	fits := s.unfit(s.recorded) == ""
	switch {
	case in.Mode == AsRecorded, tree.at.files.FS != nil && !isLocal:
		s.record = s.recorded
		return outdated(tree.at, s)
	case in.Mode == Normal && fits && tree.at.isDir(s.recorded.Dir) && !s.strays(tree.at):
		s.record = s.recorded
		return nil
	}
	s.record = Record{Key: s.key, Source: address.String()}
	if !isLocal {
		return nil
	}
	if s.record.Dir, diag = resolveLocal(tree.at, s.parent, local, s.call); diag != nil {
		return diag
	}
	if !fits || in.Mode == Upgrade {
		tree.Manifest.forget(s.key)
	}
	tree.replaced = append(tree.replaced, s.key)
	tree.Manifest[s.key] = s.record
	in.Observe(Recorded{s.record})
	return nil
}

// resolveLocal returns the directory that a path relative to a module leads
// to, as it is to be recorded.
func resolveLocal(at places, parent *Module, local Local, call load.ModuleCall) (string, *hcl.Diagnostic) {
	joined := filepath.Join(at.path(parent.Dir), filepath.FromSlash(string(local)))
	dir, err := at.files.EvalSymlinks(joined)
	if err == nil && parent.foreign && at.isAway(parent.pkgDir, dir) {
		return "", escapes(call, parent)
	}
	if err == nil && at.files.IsDir(dir) {
		dir, err = at.relative(dir)
		return filepath.ToSlash(dir), unreadable(call, joined, err)
	}
	if err == nil {
		err = fmt.Errorf("%s is not a directory", dir)
	}
	if parent.pkg != "" && !files.IsWithin(at.path(parent.pkgDir), joined) {
		return "", escapes(call, parent)
	}
	return "", unreadable(call, joined, err)
}

// load reads the modules of a level, wherever they are.
func (in Resolver) load(ctx context.Context, tree *Tree, level []*step) {
	var found []*step
	for _, s := range level {
		if !s.failed() && s.makeModule(tree.at) {
			found = append(found, s)
		}
	}
	_, errs := par.Map(ctx, runtime.GOMAXPROCS(0), found, func(ctx context.Context, s *step) (_ struct{}, err error) {
		opts := s.parent.Config.Options
		opts.Path, opts.Source, opts.Inputs, opts.RootDir = s.path, s.address.shown(), s.call.Inputs, tree.at.root
		if opts.Called, opts.Within = (hcl.Range{}), ""; !s.isRun { // a test gives it values, which aren't known here
			opts.Called = s.call.Range
		}
		if s.child.foreign {
			opts.Within = tree.at.path(s.child.pkgDir)
		}
		config, diags := load.LoadModuleContext(ctx, tree.at.path(s.record.Dir), in.Product, opts)
		s.child.Config, s.child.broken = config, diags.HasErrors()
		s.problems = append(s.problems, diags...)
		return struct{}{}, nil
	})
	for i, s := range found {
		if errs[i] != nil { // the walk is about to be stopped
			s.child = nil
		}
	}
}
