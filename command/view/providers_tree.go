package view

import (
	"io"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// ModuleProviders is a module and what it asks for itself.
type ModuleProviders struct {
	// Path is its place in the tree: "" is the root module,
	// "module.a.module.b" what its calls lead to. A module that a test runs has
	// the test's name and the run's: "test.tests.net.setup".
	Path string

	// Key, Source, Version and Dir are what modules.json has of it, the source
	// without secrets.
	Key, Source, Version, Dir string

	Call     *ModuleCall // nil for the root module
	Required getproviders.Requirements
}

// ModuleCall is where a module is called.
type ModuleCall struct {
	File    string
	Line    int
	Version string // the constraint as it was written; "" if there is none
}

// ProvidersReport is what the command "providers" tells.
type ProvidersReport struct {
	Modules []ModuleProviders // the root first, each before those that it calls
	Tests   []string          // the root's test files: "test.tests.net"
	State   getproviders.Requirements
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

// Text writes the report for people, as the real tool does, but for the order:
// here, providers stand in that of their addresses.
func (r ProvidersReport) Text(w io.Writer) error {
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
	_, err := io.WriteString(w, printable(b.String()))
	return err
}

// branch is a part of a tree that is going to be drawn.
type branch struct {
	label    string
	children []*branch
}

func (b *branch) add(label string) *branch {
	child := &branch{label: label}
	b.children = append(b.children, child)
	return child
}

// write draws what is below a branch, with non-breaking spaces where the real
// tool has them.
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

// tree arranges the modules: below each its providers, then its tests, then
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
		for _, p := range m.Required.Providers() {
			node.add(strings.TrimSpace("provider[" + p.String() + "] " + m.Required.Constraints(p).String()))
		}
		if m.Path == "" {
			for _, test := range r.Tests {
				byPath[test] = root.add(test)
			}
		}
	}
	return root
}

// splitPath returns the path of what a module is below, which is one of those
// known, and how the module is called there.
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
