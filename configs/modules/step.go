package modules

import (
	"context"
	"runtime"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// step is one call on its way to become a module of the tree. The walk takes
// all steps of a level through the same phases; a step with an error is done.
type step struct {
	parent  *Module
	call    configs.ModuleCall
	isRun   bool // a call of a test run
	key     string
	path    string // "module.a.module.b"
	address Address

	recorded Record // what was recorded for the key
	known    bool   // whether anything was
	record   Record // where the module is; no Dir as long as that isn't known
	origin   origin // where its package is fetched from, if it has to be
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

// add makes a step the next one, with the problems that its call has.
func (s *step) add(next *step) {
	problems := next.call.Problems()
	if problems.HasErrors() || next.call.Source == "" {
		if next.call.SourceRange == (hcl.Range{}) {
			problems = nil // that the source is missing is told with the module
		}
		next.problems = append(problems, done...)
	}
	s.next = append(s.next, next)
}

// done marks a step that has nothing to go on with, and whose errors are told
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

// load reads the modules of a level, wherever they are.
func (w *walk) load(level []*step) {
	var found []*step
	for _, s := range level {
		if !s.failed() && w.place(s) {
			found = append(found, s)
		}
	}
	type loaded struct {
		config *configs.Module
		diags  hcl.Diagnostics
	}
	all, errs := par.Map(w.ctx, runtime.GOMAXPROCS(0), found, func(_ context.Context, s *step) (l loaded, err error) {
		l.config, l.diags = configs.LoadModuleWith(w.at(s.record.Dir), w.Product,
			configs.Options{Path: s.path, Source: shown(s.address), Inputs: s.call.Inputs, RootDir: w.root, WorkingDir: w.WorkingDir})
		return l, nil
	})
	for i, s := range found {
		if errs[i] == nil { // else the walk is about to be stopped
			s.child.Config = all[i].config
			s.problems = append(s.problems, all[i].diags...)
		} else {
			s.child = nil
		}
	}
}

// place makes the module of a step, which isn't loaded yet.
func (w *walk) place(s *step) bool {
	child := &Module{
		Record:  s.record,
		parents: append(s.parent.parents[:len(s.parent.parents):len(s.parent.parents)], s.parent.Dir),
	}
	if !s.isRun {
		child.caller, child.call = s.parent, s.call
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
