package configs

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// callBlock is a module block whose arguments aren't evaluated yet.
type callBlock struct {
	ModuleCall
	source, version *hcl.Attribute // nil: not there
	inputs          hcl.Attributes
	// What makes several of a module, or one that has to wait for something.
	count, forEach *hcl.Attribute
	dependsOn      []hcl.Traversal
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
	case len(c.dependsOn) > 0:
		return c.dependsOn[0].SourceRange()
	}
	return hcl.Range{}
}

// isNull reports whether an expression is null as it stands.
func isNull(expr hcl.Expression) bool {
	if len(references(expr)) > 0 {
		return false
	}
	val, diags := evaluate(expr)
	return !diags.HasErrors() && val.IsNull()
}

// resolveCalls evaluates what decides which modules are called. A problem with
// a value is told once, however many calls refer to it.
func (b *builder) resolveCalls() {
	told := map[*hcl.Diagnostic]bool{}
	for _, diag := range b.scope.settle() {
		told[diag] = true
		b.report(diag)
	}
	b.module.Constant = b.scope.constants
	for _, name := range slices.Sorted(maps.Keys(b.calls)) {
		call := b.calls[name]
		call.readSource(call.source, b.scope)
		call.readVersion(call.version, b.scope)
		call.sourceProblems = untold(told, call.sourceProblems)
		if fresh := untold(told, call.versionProblems); len(fresh) < len(call.versionProblems) {
			call.Source = "" // without a constraint it would be any version
			call.versionProblems = fresh
		}
		call.Inputs = b.scope.pass(call.inputs)
		call.repeated = call.repetition()
		b.module.Calls = append(b.module.Calls, call.ModuleCall)
	}
}

// untold returns the problems that haven't been told yet.
func untold(told map[*hcl.Diagnostic]bool, diags hcl.Diagnostics) (fresh hcl.Diagnostics) {
	for _, diag := range diags {
		if !told[diag] {
			fresh = append(fresh, diag)
		}
		told[diag] = true
	}
	return fresh
}

// pass computes the values that a call has for the variables of its module.
func (s *scope) pass(attrs hcl.Attributes) Values {
	if len(attrs) == 0 {
		return nil
	}
	inputs := Values{}
	for name, attr := range attrs {
		inputs[name] = s.eval(attr.Expr).val
	}
	return inputs
}
