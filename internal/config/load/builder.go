package load

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static"
)

// add adds the declarations of a primary file. The first of duplicates stays.
func (b *builder) add(d *document) {
	for _, declared := range d.declared {
		if first, ok := b.seen[declared.key]; ok {
			b.found.report(duplicate(declared, first))
			continue
		}
		b.seen[declared.key] = declared.rng
		switch item := declared.item.(type) {
		case *ModuleCall:
			b.calls[item.Name] = item
		case *user:
			b.users[item.key] = item
			b.module.users = append(b.module.users, item)
		case *providerConfig:
			b.addProvider(item)
		case *static.Variable:
			b.scope.Variables[item.Name] = item
		case *hcl.Attribute:
			b.scope.Locals[item.Name] = item
		}
	}
	b.module.RequiredVersions = append(b.module.RequiredVersions, d.versions...)
	for _, required := range d.required {
		b.addRequired(required)
	}
	b.addBackends(d.backends)
	b.addEncryption(d.encrypted)
	b.imports = append(b.imports, d.imports...)
}

// addRequired adds a required_providers block; a module has at most one.
func (b *builder) addRequired(required requiredBlock) {
	if b.requiredAt != (hcl.Range{}) {
		b.found.error(required.header, "Duplicate required providers configuration",
			"A module has only one required_providers block; there is one already at %s.", b.requiredAt)
		return
	}
	b.requiredAt = required.header
	for _, entry := range required.entries {
		b.module.required[entry.name] = entry
	}
}

func (b *builder) addProvider(config *providerConfig) {
	b.module.configs[config.providerKey] = config
	b.module.providers = append(b.module.providers, config)
}

// finish does the work that needs all files.
func (b *builder) finish() {
	b.module.variables = b.scope.Variables
	b.scope.Declared = b.isDeclared
	b.resolveCalls()
	b.module.Backend = b.state.effective()
	b.resolveBackend()
	b.resolveInstances()
	b.resolveRuns()
	if b.product.Understands("encryption") && b.module.Path == "" {
		b.module.scope = b.scope
	}
	b.checkChild()
	b.resolveImports()
	b.checkUsers()
	b.checkInstances()
	b.checkLocalNames()
	if !b.found.diags.HasErrors() {
		for _, diag := range b.late.diags {
			b.found.report(asTreeProblem(diag))
		}
	}
}

// override applies the declarations of an override file. Arguments that it leaves out stay
// unchanged, but an entry of required_providers is replaced as a whole.
func (b *builder) override(d *document) {
	for _, declared := range d.declared {
		_, known := b.seen[declared.key]
		if diag := missing(declared); !known && diag != nil && (declared.block != "ephemeral" || b.overridable("ephemeral")) {
			b.found.report(diag)
		}
		b.overrideItem(declared.item)
	}
	if d.versions != nil {
		b.module.RequiredVersions = d.versions
	}
	for _, required := range d.required {
		for _, entry := range required.entries {
			b.module.required[entry.name] = entry
		}
	}
	b.overrideBackends(d.backends)
	b.module.encryption = b.module.encryption.override(d.encrypted)
}

// overrideItem applies a declaration of an override file.
func (b *builder) overrideItem(item any) {
	switch item := item.(type) {
	case *ModuleCall:
		if !b.product.Understands("null_version") {
			item.withoutNullVersion()
		}

		if base, ok := b.calls[item.Name]; ok {
			base.override(item)
		}
	case *user:
		if base, ok := b.users[item.key]; ok && item.provider != nil && b.overridable(item.key.block) {
			base.provider, base.needed = item.provider, item.needed
		}
	case *providerConfig:
		b.overrideProvider(item)
	case *static.Variable:
		if base, ok := b.scope.Variables[item.Name]; ok {
			base.Override(item)
		}
	case *hcl.Attribute:
		if _, ok := b.scope.Locals[item.Name]; ok {
			b.scope.Locals[item.Name] = item
		}
	}
}

// overridable reports whether blocks of a kind are merged. In Terraform, ephemeral blocks in an
// override file have no effect.
func (b *builder) overridable(block string) bool {
	return block == "resource" || block == "data" || block == "action" || block == "ephemeral" && b.grammar.holds("ephemeral", "overridable")
}

// overrideProvider changes the version of a configuration, or adds a default configuration.
// Terraform treats a block that two files have as empty, unless it has a version.
func (b *builder) overrideProvider(config *providerConfig) {
	base := b.module.configs[config.providerKey]
	switch {
	case base == nil && config.alias == "":
		b.addProvider(config)
	case base != nil:
		if config.version != nil {
			base.version = config.version
		}
		base.configured = base.version != nil
	}
}

// checkChild reports blocks that only the root module may have.
func (b *builder) checkChild() {
	path := b.module.Path
	if path == "" {
		return
	}
	for _, target := range b.imports {
		if b.grammar.holds("import", "in_modules") {
			break
		}
		b.found.report(asTreeProblem(diagnostic.Error(target.header, "Invalid import configuration",
			"There is an import block in %q. They can stand in the root module only.", path)))
	}
	if backend := b.module.Backend; backend != nil && (backend.Type != cloudBackend || b.product.Understands("cloud_in_modules")) {
		summary := "Backend configuration ignored"
		if backend.Type == cloudBackend {
			summary = "Cloud configuration ignored"
		}
		b.found.warn(backend.Range, summary,
			"State is kept for the configuration as a whole, so only the root module decides where. In %q this block has no effect.", path)
	}
}

// resolveCalls evaluates the sources and versions of calls. A problem with a value is reported
// once, however many calls refer to it.
func (b *builder) resolveCalls() {
	reported := map[*hcl.Diagnostic]bool{}
	for _, diag := range b.scope.Prepare() {
		reported[diag] = true
		b.found.report(diag)
	}
	for _, name := range slices.Sorted(maps.Keys(b.calls)) {
		call := b.calls[name]
		call.readSource(call.own["source"], b.scope)
		call.readVersion(call.own["version"], b.scope)
		call.sourceProblems = unreported(reported, call.sourceProblems)
		if fresh := unreported(reported, call.versionProblems); len(fresh) < len(call.versionProblems) {
			call.Source = "" // without the constraint any version would be installed
			call.versionProblems = fresh
		}
		call.Inputs = b.scope.CallInputs(name, call.arguments)
		if b.product.Understands("evaluated_locals") {
			b.checkLocals(reported, call.arguments)
		}
		if call.overridden {
			call.arguments, call.blocks = nil, nil // only plan checks them
		}
		call.repeated = call.repetition()
		b.module.Calls = append(b.module.Calls, *call)
	}
}

// checkLocals reports problems of local values that arguments of a call refer to.
func (b *builder) checkLocals(reported map[*hcl.Diagnostic]bool, arguments hcl.Attributes) {
	for _, attr := range inOrder(arguments) {
		problems := b.scope.LocalProblems(attr.Expr)
		b.found.report(unreported(reported, problems)...)
	}
}

// resolveRuns evaluates the values of test runs for the variables of their modules, in products in which variables
// can decide what these modules call.
func (b *builder) resolveRuns() {
	if !b.product.Understands("any_variable") {
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
