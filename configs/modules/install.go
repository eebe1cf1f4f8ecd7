package modules

import (
	"context"
	"maps"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/getproviders"
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

// Installer finds the modules of a tree, and fetches those that have to be. It
// may be copied, and used for one tree at a time and by one goroutine.
type Installer struct {
	// Dir is the directory of modules.json, ".terraform/modules".
	Dir     string
	Product getproviders.Product
	Mode    Mode

	// WorkingDir is what expressions in modules know as path.cwd; "" is unknown.
	WorkingDir string

	// CopiedFrom is the source address that the root module was copied from by
	// [Installer.Populate] just now, before the user could look at it: it may reach no
	// more than a module that is called by that address. "": it is the user's own.
	CopiedFrom string

	// Locked are the versions of registries' modules that are to be taken again,
	// by key, wherever source and constraint still allow it and nothing is upgraded.
	Locked map[string]Record
	// Commits are those that modules from git repositories had, by key, for a
	// Fetcher that can't ask: see [FetchRequest].
	Commits map[string]string

	Fetcher    Fetcher     // nil: modules that would have to be fetched are errors
	Registries *Registries // nil: so are modules of registries

	// Observe is told what happens, in an order that doesn't change from run to
	// run; nil: nobody is.
	Observe func(Event)
}

// maxModules bounds a tree: modules that call two others each, a few dozen
// levels deep, would be more than any machine can hold.
const maxModules = 50_000

// Install walks the tree below a root module, level by level: the modules that
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
func (in Installer) Install(ctx context.Context, root *configs.Module, manifest Manifest) (*Tree, hcl.Diagnostics) {
	w := walk{Installer: in, ctx: ctx, root: root.Dir, before: manifest, tree: &Tree{
		Manifest: maps.Clone(manifest),
		root:     root.Dir,
		dir:      in.Dir,
		unsaved:  in.Mode != AsRecorded && len(root.Calls)+len(root.TestRuns) > 0,
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
	Installer
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
	for level := top.below(); len(level) > 0 && !w.stop(); {
		w.settle(level)
		w.fetch(level)
		w.load(level)
		var next []*step
		for _, s := range level {
			next = append(next, s.below()...)
		}
		w.count += len(level)
		level = next
	}
	w.stop() // the last level may have been broken off
}

// stop reports whether to go no further.
func (w *walk) stop() bool {
	switch {
	case len(w.ended) > 0:
	case w.ctx.Err() != nil:
		w.ended = hcl.Diagnostics{canceled()}
	case w.count > maxModules:
		w.ended = hcl.Diagnostics{tooMany()}
	}
	return len(w.ended) > 0
}

func (w *walk) emit(e Event) {
	if w.Observe != nil {
		w.Observe(e)
	}
}

func joinKey(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}

func joinPath(parent, name string) string {
	return joinKey(parent, "module."+name)
}
