package modules

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/files"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/par"
)

// Mode says whether recorded modules are kept.
type Mode int

const (
	// Normal keeps a recorded module while it satisfies its call.
	Normal Mode = iota
	// Upgrade keeps no module.
	Upgrade
	// AsRecorded uses the recorded modules, and records none.
	AsRecorded
)

// Resolver finds the modules of a tree, and fetches the missing ones. It is a plain struct: set the fields, and
// use it as often as you like, for one tree at a time in each Dir. Its methods don't change it.
//
// Modules are loaded with the options of the root module, see [load.Options]. If that is in an FS, such as an
// editor's buffers, nothing is written or fetched: modules with a path are read from there, recorded or not, and
// all others must be recorded. An FS with symlinks should be an [fs.ReadLinkFS]: otherwise no path may lead
// through a symlink.
//
// Intended differences from Terraform: foreign modules can't read other files; a module that calls itself,
// directly or indirectly, is an error and no endless tree; a subdirectory can't be "..", in any spelling; all
// problems of a tree are reported at once, in the order of the tree; if a module is for other versions of the
// product, that is the only problem of the whole tree; events come level by level; local modules of a copied
// configuration are recorded in the copy; a prerelease is chosen if a term of the constraint names it, also with
// "=" and a space; a registry's location of a version is cached for later runs.
type Resolver struct {
	// Dir is the directory of modules.json, ".terraform/modules": absolute, or relative to the
	// working directory of the process, not to the root module's directory.
	Dir     string
	Product getproviders.Product
	Mode    Mode

	// DryRun fetches and writes nothing. Planned events report what would be fetched. The calls of such a module are those
	// of the recorded module with the same key and source, or else unknown. Registries are asked for versions.
	DryRun bool

	// Look reads packages where the Fetcher has them, which has to stay open as long as the tree is used. Nothing is written
	// to Dir, and the tree can't be saved.
	Look bool

	// CopiedFrom is the source address that [Resolver.Populate] has just copied the root module
	// from, before the user could read it: the root module has the same limits as a module called
	// by that address. "" means that it is the user's own.
	CopiedFrom string

	// Locked has the versions of registries' modules to use again, by key, if source and constraint
	// still allow them and Mode is Normal.
	Locked map[string]Record
	// Commits has the commits of git modules, by key, for a Fetcher that can't ask the repository:
	// see [FetchRequest].
	Commits map[string]string

	// Allow is called for each call that isn't a path, with the constraint on its version, before any request: an error refuses the
	// call. nil allows all.
	Allow func(address Address, constraint string) error

	Fetcher    Fetcher     // nil makes modules that must be fetched errors
	Registries *Registries // nil makes modules of registries errors

	// Hint returns the end of an error's explanation, which says what to do; nil means the error's
	// first hint.
	Hint func(error) string

	// Observe gets the events, in the same order in each run; nil drops them. The calls of one
	// Resolve are sequential.
	Observe func(Event)

	most int // the most modules in a tree; 0 means maxModules
}

// maxModules bounds a tree: modules that call two others each, a few dozen levels deep, would fill
// any machine's memory. The largest configurations have a thousand.
const maxModules = 10_000

// Resolve walks the tree below a root module, level by level: the modules of a level are looked up
// and fetched concurrently. Directories in records are relative to the root module's.
//
// Fetched packages are published below Dir immediately. The record of a package that is replaced is
// removed from modules.json before; otherwise modules.json stays unchanged until [Tree.Save].
//
// The tree is never nil, and as complete as possible. The problems are those of the calls of the
// root, and of the modules below it with their calls, but not those of the root itself. Don't save
// a tree with errors.
func (in Resolver) Resolve(ctx context.Context, root *load.Module, manifest Manifest) (*Tree, hcl.Diagnostics) {
	tree := &Tree{
		Manifest: Manifest{},
		before:   manifest,
		at:       places{root.Dir, in.Dir, files.System{FS: root.Options.FS}},
		unsaved:  in.Mode != AsRecorded && !in.Look && root.Options.FS == nil && len(root.Calls)+len(root.TestRuns) > 0,
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

// descend walks the levels below the root, and returns why it ended early.
func (in Resolver) descend(ctx context.Context, tree *Tree, top *step) hcl.Diagnostics {
	most := cmp.Or(in.most, maxModules)
	count := 1
	settled := map[string]*step{} // the calls that were found or failed, by key
	var waiting []*step           // for packages of calls that aren't settled

	for level := top.below(); len(level)+len(waiting) > 0 && ctx.Err() == nil; {
		if count += len(level); count > most {
			return hcl.Diagnostics{diagnostic.Placeless("Too many modules", "The configuration has more than %d modules, counting each call of one.", most)}
		}

		level, waiting = in.ready(tree.at, append(waiting, level...), settled)
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
			settled[s.key] = s
			next = append(next, s.below()...)
		}
		level = next
	}
	if ctx.Err() != nil {
		return hcl.Diagnostics{diagnostic.Coded("interrupted", diagnostic.Placeless("Module installation was canceled by an interrupt signal.", "Nothing was recorded."))}
	}
	return nil
}

// ready divides calls into those that can be found now, and those that wait because their path leads into the package of
// a call that isn't settled. Where all of them would wait, for one another or for a package that nothing calls, none does.
func (in Resolver) ready(at places, calls []*step, settled map[string]*step) (now, waiting []*step) {
	for _, s := range calls {
		key, inside := in.packageKey(at, s)
		s.owner, s.inside = settled[key], inside

		if key != "" && s.owner == nil {
			waiting = append(waiting, s)
		} else {
			now = append(now, s)
		}
	}
	if len(now) == 0 {
		return waiting, nil
	}
	return now, waiting
}

// packageKey returns the key of the call whose package a call's path leads into, as in "./.terraform/modules/KEY/sub", and
// the path in that package; "" if it leads elsewhere.
func (in Resolver) packageKey(at places, s *step) (key, inside string) {
	if s.failed() {
		return "", ""
	}
	address, err := ParseAddress(s.call.Source, in.Product)
	local, isLocal := address.(Local)
	if err != nil || !isLocal {
		return "", ""
	}

	path := filepath.Join(at.path(s.parent.Dir), filepath.FromSlash(string(local)))
	rel, ok := below(at.dir, path)
	key, inside, _ = strings.Cut(filepath.ToSlash(rel), "/")

	if !ok || key == s.key { // it would wait for itself
		return "", ""
	}
	return key, inside
}

// find decides whether the call keeps its recorded module. Otherwise it records a local module
// again, and leaves other modules to be fetched.
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
	s.record.Dir, diag = in.resolveLocal(tree.at, s, local)
	if diag != nil && s.owner != nil && s.owner.failed() { // the package isn't there, which is reported or planned
		return done[0]
	}
	if diag != nil {
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

// resolveLocal returns the directory of a call's path, which is relative to the calling module, in the form for the record.
func (in Resolver) resolveLocal(at places, s *step, local Local) (string, *hcl.Diagnostic) {
	call, home := s.call, s.home()
	joined := filepath.Join(at.path(s.parent.Dir), filepath.FromSlash(string(local)))
	if s.owner != nil && s.owner.child != nil && s.owner.child.lent != nil {
		joined = filepath.Join(at.path(s.owner.child.pkgDir), filepath.FromSlash(s.inside))
	}

	dir, err := at.files.EvalSymlinks(joined)
	if err == nil && home.foreign && at.isAway(home.pkgDir, dir) {
		return "", escapes(s)
	}
	if err == nil && at.files.IsDir(dir) {
		if home.lent == nil {
			dir, err = at.relative(dir)
		}
		return filepath.ToSlash(dir), unreadable(call, joined, err)
	}
	if err == nil {
		err = fmt.Errorf("%s is not a directory", dir)
	}
	if home.pkg != "" && !files.IsWithin(at.path(home.pkgDir), joined) {
		return "", escapes(s)
	}
	return "", unreadable(call, joined, err)
}

// load loads the modules of a level.
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
		if opts.Called, opts.Within = (hcl.Range{}), ""; !s.isRun { // a test run has values that are unknown here
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
		if errs[i] != nil { // the walk is about to stop
			s.child = nil
		}
	}
}
