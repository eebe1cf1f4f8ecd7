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
	// Recorded takes the modules that are recorded, and records none.
	Recorded
)

// Installer finds the modules of a tree. It may be copied, and used for one tree
// at a time and by one goroutine.
type Installer struct {
	// Dir is the directory of modules.json, ".terraform/modules".
	Dir    string
	Engine getproviders.Engine
	Mode   Mode

	// Observe is told of each module that is recorded anew; nil: nobody is.
	Observe func(Record)
}

// maxModules bounds a tree: modules that call two others each, a few dozen
// levels deep, would be more than any machine can hold.
const maxModules = 50_000

// Install walks the tree below a root module. Directories in records are
// relative to the root module's. Only files are read, those of modules and
// none else, and nothing is written.
//
// The tree is never nil, and as complete as can be if there are problems:
// those of the modules below the root and their calls, those of the root's
// calls, but not those of the root itself. A tree with errors is not to be
// saved.
func (in Installer) Install(ctx context.Context, root *configs.Module, manifest Manifest) (*Tree, hcl.Diagnostics) {
	w := walk{Installer: in, ctx: ctx, root: root.Dir, tree: &Tree{
		Manifest: maps.Clone(manifest),
		dir:      in.Dir,
		unsaved:  in.Mode != Recorded && len(root.Calls) > 0,
	}}
	if w.tree.Manifest == nil {
		w.tree.Manifest = Manifest{}
	}
	w.visit(&Module{Record: Record{Dir: "."}, Config: root})
	return w.tree, w.problems
}

// walk is one walk through a tree.
type walk struct {
	Installer
	ctx      context.Context
	root     string // the directory of the root module
	tree     *Tree
	problems hcl.Diagnostics
	stopped  bool
}

// visit adds a module to the tree, and those that it calls.
func (w *walk) visit(module *Module) {
	w.tree.Modules = append(w.tree.Modules, module)
	for _, call := range module.Config.Calls {
		if w.stop() {
			return
		}
		problems := call.Problems()
		if !problems.HasErrors() && call.Source != "" {
			var child *Module
			child, problems = w.call(module, call)
			if child != nil {
				w.visit(child)
			}
		} else if call.SourceRange == (hcl.Range{}) {
			problems = nil // that the source is missing is told with the module
		}
		w.problems = append(w.problems, problems...)
	}
}

// stop reports whether to go no further.
func (w *walk) stop() bool {
	switch {
	case w.stopped:
	case w.ctx.Err() != nil:
		w.stopped = true
		w.problems = append(w.problems, canceled())
	case len(w.tree.Modules) >= maxModules:
		w.stopped = true
		w.problems = append(w.problems, tooMany())
	}
	return w.stopped
}

// call finds and loads the module that a call means. It is nil if there is none to
// be had.
func (w *walk) call(parent *Module, call configs.ModuleCall) (*Module, hcl.Diagnostics) {
	address, err := parseCall(call)
	if err != nil {
		return nil, hcl.Diagnostics{invalidSource(call, err)}
	}
	child := &Module{
		Record:  Record{Key: joinKey(parent.Key, call.Name), Source: address.String()},
		parents: append(parent.parents[:len(parent.parents):len(parent.parents)], parent.Dir),
	}
	record, diag := w.find(parent, child, call, address)
	if diag != nil {
		return nil, hcl.Diagnostics{diag}
	}
	child.Record = record
	child.setPackage(parent, address)
	if child.isRepeated() {
		return nil, hcl.Diagnostics{repeated(call, child)}
	}
	var diags hcl.Diagnostics
	child.Config, diags = configs.LoadModuleWith(w.at(record.Dir), w.Engine,
		configs.Options{Path: joinPath(parent.Config.Path, call.Name), Source: shown(address)})
	return child, diags
}

// parseCall reads the source of a call; only registries have versions.
func parseCall(call configs.ModuleCall) (Address, error) {
	if call.VersionRange != (hcl.Range{}) {
		return ParseRegistry(call.Source)
	}
	return ParseAddress(call.Source)
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
