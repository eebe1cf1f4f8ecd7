package modules

import (
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/load"
)

// step is one call on its way to become a module of the tree. The walk takes
// all steps of a level through the same phases; a step with an error is done.
type step struct {
	parent  *Module
	call    load.ModuleCall
	isRun   bool // a call of a test run
	key     string
	path    string // "module.a.module.b"
	address Address

	constraint string        // on its version: the call's, or what was locked
	commit     string        // see [FetchRequest]
	recorded   Record        // what was recorded for the key
	record     Record        // where the module is; no Dir as long as that isn't known
	from       packageSource // where its package is fetched from, if it has to be
	fetched    Fetched
	subdir     string // where the module is in the package that was fetched

	child    *Module // once it is loaded
	problems hcl.Diagnostics
	next     []*step
}

// below makes the steps for the calls of the module that a step led to.
func (s *step) below() []*step {
	if s.child == nil {
		return nil
	}
	parent := s.child
	for _, call := range parent.Config.Calls {
		s.add(&step{parent: parent, call: call, key: joinKey(parent.Key, call.Name), path: joinPath(parent.Config.Path, call.Name)})
	}
	for _, run := range parent.Config.TestRuns {
		s.add(&step{parent: parent, call: run.Call, isRun: true, key: run.Key, path: run.Path()})
	}
	return s.next
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

// add makes a step the next one, with the problems that its call has.
func (s *step) add(next *step) {
	problems := next.call.Problems()
	if problems.HasErrors() || next.call.Source == "" {
		if next.call.SourceRange == (hcl.Range{}) {
			problems = nil // that the source is missing is reported with the module
		}
		next.problems = append(problems, done...)
	}
	// Package load has checked the names in files; those that a program puts together it hasn't.
	if k := next.key; !filepath.IsLocal(k) || filepath.Base(k) != k || k == "." || next.call.Name == "" && !next.isRun {
		next.fail(diagnostic.Error(next.call.Range, "Invalid module instance name", "The module %q can't be installed: its key %q is no name of a directory.", next.call.Name, next.key))
	}
	s.next = append(s.next, next)
}

// done marks a step that has nothing to go on with, and whose errors are reported
// elsewhere.
var done = hcl.Diagnostics{{Severity: hcl.DiagInvalid}}

// failed reports whether a step has come to its end.
func (s *step) failed() bool {
	return slices.ContainsFunc(s.problems, func(p *hcl.Diagnostic) bool { return p.Severity != hcl.DiagWarning })
}

func (s *step) fail(diag *hcl.Diagnostic) {
	if diag != nil {
		s.problems = append(s.problems, diag)
	}
}

// collect adds the modules from a step downwards to the tree, and returns all
// problems in the order of the tree.
func (s *step) collect(tree *Tree, problems hcl.Diagnostics) hcl.Diagnostics {
	for _, p := range s.problems {
		if p.Severity != hcl.DiagInvalid {
			problems = append(problems, p)
		}
	}
	if s.child != nil {
		tree.Modules = append(tree.Modules, s.child)
	}
	for _, next := range s.next {
		problems = next.collect(tree, problems)
	}
	return problems
}

// makeModule makes the module that a step leads to, which isn't loaded yet.
func (s *step) makeModule(at places) bool {
	child := &Module{Record: s.record, commit: s.fetched.Commit}
	if !s.isRun { // a test may run what calls the root module
		child.caller, child.call = s.parent, s.call
		child.parents = append(slices.Clip(s.parent.parents), s.parent.Dir)
	}
	child.setPackage(s.parent, s.address, at.recordedDir(s.key))
	if slices.Contains(child.parents, child.Dir) { // it would lead here again, and so on
		s.fail(diagnostic.Error(s.call.SourceRange, "Module calls itself",
			"The module in %s is called by a module that it calls itself, so that the tree of modules would have no end.", child.Dir))
		return false
	}
	s.child = child
	return true
}

// unfit says why a recorded module isn't what the call asks for; "": it is.
func (s *step) unfit(recorded Record) OutdatedCode {
	switch {
	case recorded == (Record{}):
		return Absent
	case recorded.Source != s.address.String():
		return SourceChanged
	case !recorded.satisfies(s.call.Version):
		return VersionChanged
	}
	return ""
}

// strays reports whether a module is recorded to be outside of the package that it
// is in, though it is foreign.
func (s *step) strays(at places) bool {
	child := &Module{Record: s.recorded}
	child.setPackage(s.parent, s.address, at.recordedDir(s.key))
	return child.foreign && at.isAway(child.pkgDir, at.path(child.Dir))
}
