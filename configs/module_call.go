package configs

import (
	"slices"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// ModuleCall is a module block.
type ModuleCall struct {
	Name  string
	Range hcl.Range // of the block's header

	// Source is the source address as it was written, or computed. It is empty
	// if the argument is missing or broken, or can't be computed, and if the
	// version can't be for a reason that is told elsewhere.
	Source      string
	SourceRange hcl.Range

	// Version is the version constraint as it was written, or computed. It is
	// empty if there is none, and if it is broken or can't be computed.
	Version      string
	VersionRange hcl.Range // zero: the call asks for no version

	// Inputs are the values that the call has for the module's variables. Those
	// that depend on anything but constant variables, local values and paths
	// are unknown.
	Inputs Values

	providers []passedProvider // the argument "providers"
	repeated  hcl.Range        // count, for_each or depends_on; zero: none of them

	sourceProblems, versionProblems hcl.Diagnostics
}

// Problems says what is wrong with the arguments source and version. What the
// source means is not looked at. What is wrong with a value that several calls
// refer to is a problem of the module or of the first of them: a call without
// a source may have no problem.
func (c ModuleCall) Problems() hcl.Diagnostics {
	return slices.Concat(c.sourceProblems, c.versionProblems)
}

// readSource reads the source of a call, which must not depend on anything in
// test files, where there is no scope.
func (c *ModuleCall) readSource(attr *hcl.Attribute, s *scope) {
	if attr == nil {
		return
	}
	c.SourceRange = attr.Expr.Range()
	val, diag := s.constant(attr, "source")
	given, ok := text(val)
	if !ok && diag == nil {
		diag = Problem(c.SourceRange, "Unsuitable value type", "The source of a module has to be a string.")
	}
	if diag != nil {
		c.sourceProblems = hcl.Diagnostics{diag}
		return
	}
	c.Source = given
}

// readVersion reads a constraint; null is none.
func (c *ModuleCall) readVersion(attr *hcl.Attribute, s *scope) {
	if attr == nil {
		return
	}
	val, diag := s.constant(attr, "version")
	if diag == nil && val.IsNull() {
		return
	}
	c.VersionRange = attr.Expr.Range()
	given, ok := text(val)
	if _, err := version.NewConstraint(given); (!ok || err != nil) && diag == nil {
		diag = Problem(c.VersionRange, "Invalid version constraint",
			"This is no version constraint. Examples of correct ones are \"1.2.3\", \"~> 1.2\" and \">= 1.2, < 3.0\".")
	}
	if diag != nil {
		c.versionProblems = hcl.Diagnostics{diag}
		return
	}
	c.Version = given
}

// constant returns the value of an argument that says which module is called.
func (s *scope) constant(attr *hcl.Attribute, what string) (cty.Value, *hcl.Diagnostic) {
	if s == nil {
		val, diags := evaluate(attr.Expr)
		if diags.HasErrors() {
			return cty.DynamicVal, diags[0]
		}
		return val, nil
	}
	for _, t := range references(attr.Expr) {
		if !s.allows(t, what) {
			return cty.DynamicVal, s.forbidden(t, what)
		}
	}
	found := s.eval(attr.Expr)
	val := found.val
	switch {
	case found.problem != nil:
		return cty.DynamicVal, found.problem
	case val.HasMarkDeep(sensitive) || val.HasMarkDeep(ephemeral):
		return cty.DynamicVal, Problem(attr.Expr.Range(), "Invalid module "+what,
			"The %s of a module can't depend on sensitive or ephemeral values: it is shown and recorded.", what)
	case !val.IsKnown():
		return cty.DynamicVal, Problem(attr.Expr.Range(), "Unknown module "+what,
			"Only literal values and constant variables can be evaluated during init, and this depends on something else.")
	}
	return val, nil
}

func (s *scope) forbidden(t hcl.Traversal, what string) *hcl.Diagnostic {
	if s.static {
		return Problem(t.SourceRange(), "Dynamic value in static context",
			"The %s of a module can only refer to input variables, local values and paths.", what)
	}
	return Problem(t.SourceRange(), "Invalid module "+what,
		"The %s of a module can only refer to constant input variables and local values: a variable is constant if its block says const = true.", what)
}

// allows reports whether the source or the version of a module may have a reference.
func (s *scope) allows(t hcl.Traversal, what string) bool {
	switch t.RootName() {
	case "var":
		name := stepName(t, 1)
		v, ok := s.variables[name]
		return !ok && name != "" || ok && v.constant
	case "local":
		return true
	case "path":
		return what == "source" || s.static
	}
	return false
}
