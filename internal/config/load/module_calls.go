package load

import (
	"cmp"
	"maps"
	"slices"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

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

	arguments hcl.Attributes   // those for variables of the module
	blocks    hcl.Diagnostics  // what is wrong with blocks that no module has
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
		problems = append(problems, diagnostic.Error(c.SourceRange, "Invalid module source address",
			"The source of a module can't be empty: it says where the module is."))
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

// callBlock is a module block whose arguments aren't evaluated yet.
type callBlock struct {
	ModuleCall
	source, version *hcl.Attribute // nil: not there
	inputs          hcl.Attributes
	// What makes several of a module, or one that has to wait for something.
	count, forEach, enabled *hcl.Attribute
	dependsOn               []hcl.Traversal
}

// override takes over the arguments that another block for the same call has.
// A version that is null changes nothing.
func (c *callBlock) override(changed *callBlock) {
	if changed.source != nil {
		c.source = changed.source
	}
	if changed.version != nil && !isNull(changed.version.Expr) {
		c.version = changed.version
	}
	if len(changed.providers) > 0 {
		c.providers = changed.providers
	}
	c.count, c.forEach = cmp.Or(changed.count, c.count), cmp.Or(changed.forEach, c.forEach)
	maps.Copy(c.inputs, changed.inputs)
}

// repetition is where the block says that it is not for one module that is simply there;
// zero: nowhere.
func (c *callBlock) repetition() hcl.Range {
	switch {
	case c.count != nil:
		return c.count.Expr.Range()
	case c.forEach != nil:
		return c.forEach.Expr.Range()
	case c.enabled != nil:
		return c.enabled.Expr.Range()
	case len(c.dependsOn) > 0:
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

// resolveCalls evaluates what decides which modules are called. A problem with
// a value is reported once, however many calls refer to it.
func (b *builder) resolveCalls() {
	reported := map[*hcl.Diagnostic]bool{}
	for _, diag := range b.scope.Prepare() {
		reported[diag] = true
		b.report(diag)
	}
	b.module.Constant = b.scope.HasConstants
	for _, name := range slices.Sorted(maps.Keys(b.calls)) {
		call := b.calls[name]
		call.readSource(call.source, b.scope)
		call.readVersion(call.version, b.scope)
		call.sourceProblems = unreported(reported, call.sourceProblems)
		if fresh := unreported(reported, call.versionProblems); len(fresh) < len(call.versionProblems) {
			call.Source = "" // without a constraint it would be any version
			call.versionProblems = fresh
		}
		call.arguments = call.inputs
		call.Inputs = b.scope.CallInputs(name, call.inputs)
		call.repeated = call.repetition()
		b.module.Calls = append(b.module.Calls, call.ModuleCall)
	}
}

// resolveRuns evaluates the values that runs of tests have for the variables of their modules, in products in which
// they have a say in what these call.
func (b *builder) resolveRuns() {
	if !b.product.StaticModules {
		return
	}
	for i, run := range b.module.TestRuns {
		b.module.TestRuns[i].Call.Inputs = b.scope.CallInputs(run.Name, run.Call.arguments)
	}
}

// unreported returns the problems that haven't been reported yet.
func unreported(reported map[*hcl.Diagnostic]bool, diags hcl.Diagnostics) (fresh hcl.Diagnostics) {
	for _, diag := range diags {
		if !reported[diag] {
			fresh = append(fresh, diag)
		}
		reported[diag] = true
	}
	return fresh
}

// passedProvider is an entry of the argument "providers" of a call: which
// configuration of the caller is to be which one of the module.
type passedProvider struct {
	child, parent providerRef
}

// passedProviders reads the argument "providers". What is left out has no
// meaning, which was reported.
func (d *document) passedProviders(attr *hcl.Attribute) (all []passedProvider) {
	if attr == nil {
		return nil
	}
	pairs, diags := hcl.ExprMap(attr.Expr)
	d.report(diags...)
	seen := map[providerKey]hcl.Range{}
	for _, pair := range pairs {
		key := pair.Key
		if wrapped, ok := key.(*hclsyntax.ObjectConsKeyExpr); ok {
			key = wrapped.Wrapped // a name is no variable there
		}
		child, parent := d.providerName(key), d.providerName(pair.Value)
		if child == nil || parent == nil {
			continue
		}
		if first, ok := seen[child.providerKey]; ok {
			d.error(pair.Value.Range(), "Duplicate provider address",
				"There is an entry for %s already at %s, and a configuration can be passed only once.", child, first)
			continue
		}
		seen[child.providerKey] = pair.Key.Range()
		all = append(all, passedProvider{child: *child, parent: *parent})
	}
	return all
}

// String is the configuration as references have it.
func (k providerKey) String() string {
	if k.alias == "" {
		return k.name
	}
	return k.name + "." + k.alias
}

// dependsOn reads the argument "depends_on", which override files can't have.
func (d *document) dependsOn(attr *hcl.Attribute) (all []hcl.Traversal) {
	for _, expr := range d.elements(attr) {
		traversal, _ := d.unquoted(expr)
		if len(traversal) == 0 {
			var diags hcl.Diagnostics
			traversal, diags = hcl.AbsTraversalForExpr(expr)
			d.report(diags...)
		}
		if len(traversal) > 0 && traversal.RootName() == "action" {
			d.error(expr.Range(), "Invalid depends_on Action Reference", "Nothing can wait for an action.")
		} else if len(traversal) > 0 {
			all = append(all, traversal)
		}
	}
	if d.override && len(all) > 0 {
		d.error(all[0].SourceRange(), "Unsupported override",
			"An override file can't change depends_on: what others depend on stands in one place.")
		return nil
	}
	return all
}

// passes reports whether a call has an entry for a configuration of the module.
func (c ModuleCall) passes(wanted providerKey) bool {
	return slices.ContainsFunc(c.providers, func(p passedProvider) bool { return p.child.providerKey == wanted })
}

// requirement is what required_providers says of a local name; nil: nothing.
func (m *Module) requirement(name string) *requiredProvider {
	for _, entry := range m.required {
		if entry.name == name {
			return entry
		}
	}
	return nil
}

// declares reports whether required_providers has a configuration.
func (m *Module) declares(k providerKey) bool {
	entry := m.requirement(k.name)
	return entry != nil && (k.alias == "" || slices.Contains(entry.aliases, k))
}

// config is the provider block for a configuration; nil: there is none.
func (m *Module) config(k providerKey) *providerConfig {
	for _, config := range m.providers {
		if config.providerKey == k {
			return config
		}
	}
	return nil
}

// configures reports whether there is a provider block that says something.
func (m *Module) configures(k providerKey) bool {
	config := m.config(k)
	return config != nil && config.configured
}
