package modules

import (
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

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

	recorded Record        // what was recorded for the key
	known    bool          // whether anything was
	record   Record        // where the module is; no Dir as long as that isn't known
	from     packageSource // where its package is fetched from, if it has to be
	fetched  Fetched
	subdir   string // where the module is in the package that was fetched

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
	if !isDirName(next.key) || next.call.Name == "" && !next.isRun {
		next.fail(badName(next.call, next.key))
	}
	s.next = append(s.next, next)
}

// isDirName reports whether a key can be the name of a directory. Package configs
// has checked the names in files; those that a program puts together it hasn't.
func isDirName(key string) bool {
	return filepath.IsLocal(key) && filepath.Base(key) == key && key != "."
}

// done marks a step that has nothing to go on with, and whose errors are reported
// elsewhere.
var done = hcl.Diagnostics{{Severity: hcl.DiagInvalid}}

// failed reports whether a step has come to its end.
func (s *step) failed() bool {
	for _, p := range s.problems {
		if p.Severity != hcl.DiagWarning {
			return true
		}
	}
	return false
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
