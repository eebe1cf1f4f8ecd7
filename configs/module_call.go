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

	// Source is the source address as it was written. It is empty if the
	// argument is missing or broken, or has to be computed from variables.
	Source      string
	SourceRange hcl.Range

	// Version is the version constraint as it was written. It is empty if there
	// is none, and if it is broken or has to be computed.
	Version      string
	VersionRange hcl.Range // zero: the call asks for no version

	sourceProblems, versionProblems hcl.Diagnostics
}

// Problems says what is wrong with the arguments source and version. What the
// source means is not looked at.
func (c ModuleCall) Problems() hcl.Diagnostics {
	return slices.Concat(c.sourceProblems, c.versionProblems)
}

func (c *ModuleCall) readSource(attr *hcl.Attribute) {
	if attr == nil {
		return
	}
	c.SourceRange = attr.Expr.Range()
	val, diags := evaluateCall(attr)
	given, ok := text(val)
	if !ok && !diags.HasErrors() {
		diags = append(diags, problem(c.SourceRange, "Unsuitable value type", "The source of a module has to be a string."))
	}
	c.Source, c.sourceProblems = given, diags
}

// readVersion reads a constraint; null is none.
func (c *ModuleCall) readVersion(attr *hcl.Attribute) {
	if attr == nil {
		return
	}
	val, diags := evaluateCall(attr)
	if !diags.HasErrors() && val.IsNull() {
		return
	}
	c.VersionRange = attr.Expr.Range()
	given, ok := text(val)
	if _, err := version.NewConstraint(given); (!ok || err != nil) && !diags.HasErrors() {
		diags = append(diags, problem(c.VersionRange, "Invalid version constraint",
			"This is no version constraint. Examples of correct ones are \"1.2.3\", \"~> 1.2\" and \">= 1.2, < 3.0\"."))
	}
	if c.versionProblems = diags; !diags.HasErrors() {
		c.Version = given
	}
}

// override takes over the arguments that another block for the same call has.
func (c *ModuleCall) override(changed *ModuleCall) {
	if changed.SourceRange != (hcl.Range{}) {
		c.Source, c.SourceRange, c.sourceProblems = changed.Source, changed.SourceRange, changed.sourceProblems
	}
	if changed.VersionRange != (hcl.Range{}) {
		c.Version, c.VersionRange, c.versionProblems = changed.Version, changed.VersionRange, changed.versionProblems
	}
}

// evaluateCall returns the value of an argument that says which module is called.
func evaluateCall(attr *hcl.Attribute) (cty.Value, hcl.Diagnostics) {
	if variables := attr.Expr.Variables(); len(variables) > 0 {
		return cty.DynamicVal, hcl.Diagnostics{problem(variables[0].SourceRange(), "Variables not allowed",
			"This version of tfdeps needs the %s of a module as it is, and doesn't compute it from variables or local values.", attr.Name)}
	}
	return evaluate(attr.Expr)
}
