package load

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static"
)

// ModuleCall is a module block.
type ModuleCall struct {
	Name  string
	Range hcl.Range // of the block's header

	// Source is the source address as it was written, or computed. It is empty
	// if the argument is missing or broken, or can't be computed, and if the
	// version can't be for a reason that is reported elsewhere.
	Source      string
	SourceRange hcl.Range

	// Version is the version constraint as it was written, or computed. It is
	// empty if there is none, and if it is broken or can't be computed.
	Version      string
	VersionRange hcl.Range // zero: the call asks for no version

	// Inputs are the values that the call has for the module's variables, marked
	// with where they stand. Those that depend on anything but constant variables,
	// local values, paths and functions are unknown.
	Inputs Values

	own       hcl.Attributes   // the arguments that every call has
	arguments hcl.Attributes   // those for variables of the module
	blocks    hcl.Diagnostics  // what is wrong with blocks that no module has
	providers []passedProvider // the argument "providers"
	repeated  hcl.Range        // count, for_each or depends_on; zero: none of them

	overridden bool
	enabled    *hcl.Attribute
	dependsOn  []hcl.Traversal

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
func (c *ModuleCall) readSource(attr *hcl.Attribute, s *static.Scope) {
	if attr == nil {
		return
	}
	c.SourceRange = attr.Expr.Range()
	val, problems := s.Constant(c.Name, attr, "source")
	given, ok := static.Text(val)
	switch {
	case len(problems) > 0:
	case !ok:
		problems = append(problems, diagnostic.Error(c.SourceRange, "Unsuitable value type", "The source of a module has to be a string."))
	case given == "":
		problems = append(problems, diagnostic.Coded("invalid_module_source", diagnostic.Error(c.SourceRange, "Invalid module source address",
			"The source of a module can't be empty: it says where the module is.")))
	}
	if c.sourceProblems = problems; len(problems) == 0 {
		c.Source = given
	}
}

// readVersion reads a constraint; null is none.
func (c *ModuleCall) readVersion(attr *hcl.Attribute, s *static.Scope) {
	if attr == nil {
		return
	}
	val, problems := s.Constant(c.Name, attr, "version")
	if len(problems) == 0 && val.IsNull() {
		return
	}
	c.VersionRange = attr.Expr.Range()
	given, ok := static.Text(val)
	if _, err := version.NewConstraint(given); (!ok || err != nil) && len(problems) == 0 {
		problems = append(problems, diagnostic.Error(c.VersionRange, "Invalid version constraint",
			"This is no version constraint. Examples of correct ones are \"1.2.3\", \"~> 1.2\" and \">= 1.2, < 3.0\"."))
	}
	if c.versionProblems = problems; len(problems) == 0 {
		c.Version = given
	}
}

// override takes over the arguments that another block for the same call has.
// A version that is null changes nothing.
func (c *ModuleCall) override(changed *ModuleCall) {
	if version := changed.own["version"]; version != nil && isNull(version.Expr) {
		delete(changed.own, "version")
	}
	maps.Copy(c.own, changed.own)
	if len(changed.providers) > 0 {
		c.providers = changed.providers
	}
	maps.Copy(c.arguments, changed.arguments)
	c.overridden = true
}

// repetition is where the block has count, for_each or depends_on; zero: nowhere.
func (c *ModuleCall) repetition() hcl.Range {
	if attr := cmp.Or(c.own["count"], c.own["for_each"], c.enabled); attr != nil {
		return attr.Expr.Range()
	}
	if len(c.dependsOn) > 0 {
		return c.dependsOn[0].SourceRange()
	}
	return hcl.Range{}
}

// isNull reports whether an expression is null as it stands.
func isNull(expr hcl.Expression) bool {
	if len(static.References(expr)) > 0 {
		return false
	}
	val, diags := static.Evaluate(expr)
	return !diags.HasErrors() && val.IsNull()
}

// passedProvider is an entry of the argument "providers" of a call: which
// configuration of the caller is to be which one of the module.
type passedProvider struct {
	child, parent providerRef
}

// passes reports whether a call has an entry for a configuration of the module.
func (c ModuleCall) passes(wanted providerKey) bool {
	return slices.ContainsFunc(c.providers, func(p passedProvider) bool { return p.child.providerKey == wanted })
}

// Values are values for the input variables of a module, by name, before they
// are converted to the types of the variables. An unknown value stands for one
// that only a plan knows. Those that [ReadInputs] returns are marked with where
// they come from, and text from arguments and the environment with how it is to
// be read; any other values will do as well.
type Values map[string]cty.Value

// TestRun is a run block of a test file that has a module of its own instead
// of the one under test: the root of a further tree of modules, whose
// requirements count like those of the configuration.
type TestRun struct {
	File string // relative to the module's directory, with slashes: "tests/a.tftest.hcl"
	Name string // of the run block
	Key  string // of the module in modules.json: "test.tests.a.name"
	Call ModuleCall
}

// Path is the module's place in the tree of modules, which no call can have.
func (r TestRun) Path() string {
	return "module." + strings.ReplaceAll(r.Key, ".", ".module.")
}
