package configs

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

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
			d.report(Problem(pair.Value.Range(), "Duplicate provider address",
				"There is an entry for %s already at %s, and a configuration can be passed only once.", child, first))
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
	if attr == nil {
		return nil
	}
	list, diags := hcl.ExprList(attr.Expr)
	d.report(diags...)
	for _, expr := range list {
		traversal, _ := d.unquoted(expr)
		if len(traversal) == 0 {
			traversal, diags = hcl.AbsTraversalForExpr(expr)
			d.report(diags...)
		}
		if len(traversal) > 0 {
			all = append(all, traversal)
		}
	}
	if d.override && len(all) > 0 {
		d.report(Problem(all[0].SourceRange(), "Unsupported override",
			"An override file can't change depends_on: what others depend on stands in one place."))
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
