package result

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
)

// ModuleProviders is a module and the providers that it requires itself.
type ModuleProviders struct {
	// Path is its place in the tree: "" is the root module,
	// "module.a.module.b" a called one. A module that a test runs has
	// the names of the test and the run: "test.tests.net.setup".
	Path string

	// Key, Source, Version and Dir are those of modules.json, the source
	// without secrets.
	Key, Source, Version, Dir string

	Call     *ModuleCall // nil for the root module
	Required getproviders.Requirements
}

// ModuleCall is where a module is called.
type ModuleCall struct {
	File    string
	Line    int
	Version string // the constraint as it was written, or ""
}

// ProvidersReport is the input of the report of "providers".
type ProvidersReport struct {
	Modules []ModuleProviders // the root first, each module before those that it calls
	Tests   []string          // the root's test files: "test.tests.net"
	// TestProviders are the providers that test files require themselves, by their names in Tests.
	TestProviders map[string]getproviders.Requirements
	State         getproviders.Requirements
	// StateUnknown says that the state couldn't be read.
	StateUnknown bool
	// Locked are the entries of the lock file; for JSON only.
	Locked map[getproviders.Provider]LockedVersion
}

// LockedVersion is a version that the lock file selects.
type LockedVersion struct {
	Version     getproviders.Version     `json:"version"`
	Constraints getproviders.Constraints `json:"version_constraints"` // when it was selected
}

// Providers is the report of what modules, tests and the state require: for people in Terraform's form, but with providers in the order
// of their addresses, and for programs as the help of the command says.
func Providers(r ProvidersReport) *Result {
	var b strings.Builder
	b.WriteString("\nProviders required by configuration:\n.\n")
	r.tree().write(&b, "")
	b.WriteString("\n")
	if len(r.State) > 0 {
		b.WriteString("Providers required by state:\n\n")
	}
	for _, p := range r.State.Providers() {
		b.WriteString("    provider[" + p.String() + "]\n\n")
	}
	return &Result{terminal.Printable(b.String()), r.object()}
}

// branch is a part of a tree that is drawn.
type branch struct {
	label    string
	children []*branch
}

func (b *branch) add(label string) *branch {
	child := &branch{label: label}
	b.children = append(b.children, child)
	return child
}

func (b *branch) addProviders(required getproviders.Requirements) {
	for _, p := range required.Providers() {
		b.add(strings.TrimSpace("provider[" + p.String() + "] " + required.Constraints(p).String()))
	}
}

// write draws the children of a branch, with Terraform's
// non-breaking spaces.
func (b *branch) write(out *strings.Builder, indent string) {
	for i, child := range b.children {
		edge, below := "├── ", "│\u00a0\u00a0 "
		if i == len(b.children)-1 {
			edge, below = "└── ", "    "
		}
		out.WriteString(indent + edge + child.label + "\n")
		child.write(out, indent+below)
	}
}

// tree returns the tree of the modules: each has its providers, then its tests, then
// the modules that it calls.
func (r ProvidersReport) tree() *branch {
	root := &branch{}
	byPath := map[string]*branch{}
	for _, m := range r.Modules {
		node := root
		if m.Path != "" {
			parent, label := splitPath(m.Path, byPath)
			node = byPath[parent].add(label)
		}
		byPath[m.Path] = node
		node.addProviders(m.Required)
		if m.Path == "" {
			for _, test := range r.Tests {
				byPath[test] = root.add(test)
				byPath[test].addProviders(r.TestProviders[test])
			}
		}
	}
	return root
}

// splitPath returns the path of a module's parent, which is one of
// known, and the module's label below it.
func splitPath[T any](path string, known map[string]T) (parent, label string) {
	parent, name := cutLast(path)
	if outer, word := cutLast(parent); word == "module" {
		if _, ok := known[outer]; ok {
			return outer, "module." + name
		}
	}
	if _, ok := known[parent]; ok {
		return parent, "run." + name
	}
	return "", path
}

// cutLast cuts the last name off a path.
func cutLast(path string) (rest, name string) {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)], path[i+1:]
}

func (r ProvidersReport) object() Object {
	modules := []Object{}
	known := map[string]bool{} // paths, without tests, so that modules that tests run are below the root module
	for _, m := range r.withTests() {
		modules = append(modules, m.object(known))
		known[m.Path] = true
	}
	var state any // null if unknown
	if !r.StateUnknown {
		state = Object{"providers", r.State.Providers()}
	}
	all := r.Required()
	providers := Each(all.Providers(), func(p getproviders.Provider) Object {
		return Object{"address", p, "built_in", p.IsBuiltIn(), "version_constraints", all.Constraints(p), "locked|null", r.Locked[p]}
	})
	return Object{
		"modules", modules, "state", state, "providers", providers, "summary", Object{"modules", len(modules), "providers", len(providers)},
	}
}

// Required returns what the modules, the tests and the state require together.
func (r ProvidersReport) Required() getproviders.Requirements {
	all := r.State
	for _, m := range r.withTests() {
		all = all.Merge(m.Required)
	}
	return all
}

// withTests returns the modules, with the requirements of test files added to the root's.
func (r ProvidersReport) withTests() []ModuleProviders {
	all := slices.Clone(r.Modules)
	for i := range all {
		for _, test := range r.Tests {
			if all[i].Path == "" {
				all[i].Required = all[i].Required.Merge(r.TestProviders[test])
			}
		}
	}
	return all
}

func (m ModuleProviders) object(known map[string]bool) Object {
	var parent any // null for the root module
	if m.Path != "" {
		parent, _ = splitPath(m.Path, known)
	}
	var call Object
	if m.Call != nil {
		call = Object{"file", filepath.ToSlash(m.Call.File), "line", m.Call.Line, "version_constraints?", m.Call.Version}
	}
	return Object{
		"path", m.Path, "parent", parent, "key", m.Key, "source?", m.Source, "version?", m.Version, "dir", m.Dir, "call?", call,
		"required_providers", Each(m.Required.Providers(), func(p getproviders.Provider) Object {
			return Object{"address", p, "version_constraints", m.Required.Constraints(p), "origins", Each(m.Required[p], func(r getproviders.Requirement) Object {
				return Object{"file", filepath.ToSlash(r.Pos.File), "line", r.Pos.Line, "version_constraints", r.Constraints}
			})}
		}),
	}
}
