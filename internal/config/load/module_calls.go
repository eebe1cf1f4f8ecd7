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

	// Source is the source address as written or computed. It is "" if the argument is missing,
	// invalid or can't be computed, and if the version can't be computed for a reason that is
	// reported elsewhere.
	Source      string
	SourceRange hcl.Range

	// Version is the version constraint as written or computed. It is "" if the argument is
	// missing, invalid or can't be computed.
	Version      string
	VersionRange hcl.Range // zero without a version

	// Inputs are the call's values for the module's variables, marked with their positions. Values
	// that depend on anything but constant variables, local values, paths and functions are
	// unknown.
	Inputs Values

	own       hcl.Attributes   // the arguments that every call has
	arguments hcl.Attributes   // for variables of the module
	blocks    hcl.Diagnostics  // problems with blocks that no module call has
	providers []passedProvider // the argument "providers"
	repeated  hcl.Range        // count, for_each or depends_on; zero without any

	overridden bool
	enabled    *hcl.Attribute
	dependsOn  []hcl.Traversal

	sourceProblems, versionProblems hcl.Diagnostics
}

// Problems returns the problems of the arguments source and version. It doesn't parse the source. A
// problem with a value that several calls refer to is reported by the module or the first call: a
// call without a Source may have no Problems.
func (c ModuleCall) Problems() hcl.Diagnostics {
	return slices.Concat(c.sourceProblems, c.versionProblems)
}

// readSource reads the source of a call. In test files s is nil, and the source must be constant.
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

// readVersion reads a constraint; null means none.
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
			"This is not a version constraint. Examples of correct ones are \"1.2.3\", \"~> 1.2\" and \">= 1.2, < 3.0\"."))
	}
	if c.versionProblems = problems; len(problems) == 0 {
		c.Version = given
	}
}

// override applies the arguments of an override file's block for the same call. An argument that is null
// replaces the one of the call, too.
func (c *ModuleCall) override(changed *ModuleCall) {
	maps.Copy(c.own, changed.own)
	if len(changed.providers) > 0 {
		c.providers = changed.providers
	}
	maps.Copy(c.arguments, changed.arguments)
	c.overridden = true
}

// repetition returns the range of count, for_each or depends_on; zero without any.
func (c *ModuleCall) repetition() hcl.Range {
	if attr := cmp.Or(c.own["count"], c.own["for_each"], c.enabled); attr != nil {
		return attr.Expr.Range()
	}
	if len(c.dependsOn) > 0 {
		return c.dependsOn[0].SourceRange()
	}
	return hcl.Range{}
}

// withoutNullVersion removes a version that is null, in products in which such a version in an override file
// changes nothing.
func (c *ModuleCall) withoutNullVersion() {
	version := c.own["version"]
	if version != nil && isNull(version.Expr) {
		delete(c.own, "version")
	}
}

// isNull reports whether an expression is the constant null.
func isNull(expr hcl.Expression) bool {
	if len(static.References(expr)) > 0 {
		return false
	}
	val, diags := static.Evaluate(expr)
	return !diags.HasErrors() && val.IsNull()
}

// passedProvider is an entry of a call's argument "providers": a configuration of the module, and
// the caller's configuration for it.
type passedProvider struct {
	child, parent providerRef
}

// passes reports whether a call has an entry for a configuration of the module.
func (c ModuleCall) passes(wanted providerKey) bool {
	return slices.ContainsFunc(c.providers, func(p passedProvider) bool { return p.child.providerKey == wanted })
}

// Values are values for a module's input variables by name, before conversion to the variables'
// types. An unknown value is one that only plan knows. The values of [ReadInputs] are marked with
// their source, and text from arguments and the environment with how to parse it; values without
// marks are valid, too.
type Values map[string]cty.Value

// TestRun is a run block with a module of its own in place of the one under test. That module is
// the root of another tree of modules, whose requirements count like those of the configuration.
type TestRun struct {
	Name string // of the run block
	Key  string // of the module in modules.json: "test.tests.a.name"
	Call ModuleCall
}

// Path is the module's place in the tree of modules. It differs from that of every call.
func (r TestRun) Path() string {
	return "module." + strings.ReplaceAll(r.Key, ".", ".module.")
}
