package modules

import (
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/files"
	"github.com/tfdeps/tfdeps/internal/config/load"
)

// step is a call that is about to become a module of the tree. All steps of a level go through the
// same phases together; a step with an error stops.
type step struct {
	parent  *Module
	call    load.ModuleCall
	isRun   bool // a call of a test run
	key     string
	path    string // "module.a.module.b"
	owner   *step  // the call whose package the path of a local module leads into; nil if it leads elsewhere
	inside  string // what follows the owner's package in that path
	address Address

	constraint string        // on its version: the call's, or the locked version
	commit     string        // see [FetchRequest]
	recorded   Record        // the former record of the key
	record     Record        // the module's record; its Dir is "" while unknown
	from       packageSource // where its package is fetched from, if necessary
	fetched    Fetched
	subdir     string // the module's directory in the fetched package

	child    *Module // nil until it is loaded
	problems hcl.Diagnostics
	next     []*step
}

// below adds steps for the calls of the step's module, and returns them.
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

// add appends a step with the problems of its call.
func (s *step) add(next *step) {
	problems := next.call.Problems()
	if problems.HasErrors() || next.call.Source == "" {
		if next.call.SourceRange == (hcl.Range{}) {
			problems = nil // the missing source is reported with the module
		}
		next.problems = append(problems, done...)
	}
	// Package load checks the names in files, but not those of calls that a program makes. On Windows, keys below a test run have the directory of its file.
	if k, name := next.key, next.call.Name; !filepath.IsLocal(k) || k == "." || filepath.Base(name) != name && !next.isRun {
		next.fail(diagnostic.Error(next.call.Range, "Invalid module instance name", "The module %q can't be installed: its key %q is not the name of a directory.", next.call.Name, next.key))
	}
	s.next = append(s.next, next)
}

// done stops a step whose errors are reported elsewhere.
var done = hcl.Diagnostics{{Severity: hcl.DiagInvalid}}

// failed reports whether a step has an error.
func (s *step) failed() bool {
	return slices.ContainsFunc(s.problems, func(p *hcl.Diagnostic) bool { return p.Severity != hcl.DiagWarning })
}

func (s *step) fail(diag *hcl.Diagnostic) {
	if diag != nil {
		s.problems = append(s.problems, diag)
	}
}

// collect adds the modules of a step and all below it to the tree, and returns their problems in
// the order of the tree.
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

// makeModule sets the step's module, which isn't loaded yet.
func (s *step) makeModule(at places) bool {
	child := &Module{Record: s.record, commit: s.fetched.Commit}
	if !s.isRun { // a test run may call the root module
		child.caller, child.call = s.parent, s.call
		child.parents = append(slices.Clip(s.parent.parents), s.parent.Dir)
	}
	child.setPackage(s.home(), s.address, at.recordedDir(s.key))
	if dir := s.fetched.Dir; dir != "" {
		child.pkgDir, child.lent = filepath.ToSlash(dir), child
	}
	if slices.Contains(child.parents, child.Dir) { // an endless recursion
		s.fail(diagnostic.Error(s.call.SourceRange, "Module calls itself",
			"The module in %s is called by a module that it calls itself, so the tree of modules would have no end.", child.Dir))
		return false
	}
	child.astray = s.isAstray(at)
	s.child = child
	return true
}

// isAstray reports whether the module's directory is outside of the root module's, and the record alone leads there: for a path,
// it isn't where the path leads to; for a package, it isn't among the packages.
func (s *step) isAstray(at places) bool {
	local, isLocal := s.address.(Local)
	expected := at.path(at.recordedDir(s.key))
	if isLocal {
		expected = filepath.Join(at.path(s.parent.Dir), filepath.FromSlash(string(local)))
	}
	path := at.path(s.record.Dir)
	led := path == expected || !isLocal && files.IsWithin(expected, path)
	if led || at.files.FS != nil { // nothing has to be resolved, which most modules don't need
		return s.parent.astray && isLocal
	}

	dir, err := at.files.Physical(path)
	if err != nil {
		return false
	}
	root, err := at.files.Physical(at.root)
	if err == nil && files.IsWithin(root, dir) {
		return false
	}
	expected, err = at.files.Physical(expected)
	led = err == nil && (dir == expected || !isLocal && files.IsWithin(expected, dir))
	return !led || s.parent.astray && isLocal
}

// home returns the module whose package has a local module: the caller, or the module of the owner, if a configuration calls a
// directory of a package that it has fetched. Such a directory has the limits of its package.
func (s *step) home() *Module {
	if s.owner == nil || s.owner.child == nil || s.parent.foreign {
		return s.parent
	}
	return s.owner.child
}

// unfit returns why a recorded module doesn't satisfy the call, or "" if it does.
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

// strays reports whether a foreign module is recorded outside of its package.
func (s *step) strays(at places) bool {
	child := &Module{Record: s.recorded}
	child.setPackage(s.home(), s.address, at.recordedDir(s.key))
	return child.foreign && at.isAway(child.pkgDir, at.path(child.Dir))
}
