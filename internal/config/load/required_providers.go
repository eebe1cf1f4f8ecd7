package load

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static"
)

// requiredProviders decodes a required_providers block.
func (d *document) requiredProviders(b *block) {
	attrs, diags := b.Body.JustAttributes()
	d.report(d.leave("required_providers", diags)...)
	required := requiredBlock{header: b.DefRange}
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		if entry := d.requiredProvider(attrs[name]); entry != nil {
			required.entries = append(required.entries, entry)
		}
	}
	d.required = append(d.required, required)
}

// requiredProvider decodes an entry: an object, or a string with the version constraint. It returns
// nil if the provider is invalid.
func (d *document) requiredProvider(attr *hcl.Attribute) *requiredProvider {
	entry := &requiredProvider{name: attr.Name, value: attr.Expr.Range(), entry: attr.Range}
	pairs, diags := hcl.ExprMap(attr.Expr)
	isObject := !diags.HasErrors()
	if isObject && !d.checkLocalName(attr.Name, entry.value) {
		return nil
	}
	implied, err := d.product.ImpliedProvider(attr.Name)
	if err != nil {
		d.error(entry.value, "Invalid provider name", "%q can't be the name of a provider: %v.", attr.Name, err)
		return nil
	}
	entry.provider = implied
	if isObject {
		if !d.requiredObject(entry, pairs) {
			return nil
		}
		return entry
	}
	val, diags := static.Evaluate(attr.Expr)
	given, ok := static.Text(val)
	if diags.HasErrors() || !ok {
		d.error(entry.value, "Invalid required_providers object",
			"The entry of a provider has to be an object, or a string with a version constraint.")
		return nil
	}
	entry.version = d.parseConstraint(given, attr.Range, entry.value)
	return entry
}

// requiredObject decodes the object of an entry; false if its source is invalid.
func (d *document) requiredObject(entry *requiredProvider, pairs []hcl.KeyValuePair) bool {
	valid := true
	for _, pair := range pairs {
		if _, diags := static.Evaluate(pair.Key); diags.HasErrors() {
			d.report(diags...)
			continue
		}
		name, ok := static.Literal(pair.Key)
		if !ok {
			d.error(pair.Key.Range(), "Invalid Attribute", "The arguments of a required provider have names, which are strings.")
			continue
		}
		switch name {
		case "version":
			d.requiredVersion(entry, pair.Value)
		case "source":
			valid = d.requiredSource(entry, pair.Value)
		case "configuration_aliases":
			d.requiredAliases(entry, pair.Value)
		default:
			if d.leftToPlan(pair.Key.Range(), true) {
				continue
			}
			d.error(pair.Key.Range(), "Invalid required_providers object",
				"There are only the arguments \"source\", \"version\" and \"configuration_aliases\" here. Configuration of the provider belongs in a \"provider\" block.")
			return valid
		}
	}
	return valid
}

func (d *document) requiredVersion(entry *requiredProvider, expr hcl.Expression) {
	given, ok := static.Literal(expr)
	if !ok {
		d.error(expr.Range(), "Invalid version constraint", "The version constraint has to be a string.")
		return
	}
	entry.version = d.parseConstraint(given, entry.entry, expr.Range())
}

// requiredSource reads a source, and reports whether it is an address.
func (d *document) requiredSource(entry *requiredProvider, expr hcl.Expression) bool {
	given, ok := static.Literal(expr)
	if !ok {
		d.error(expr.Range(), "Invalid source", "The source has to be a string.")
		return false
	}
	provider, err := d.product.ParseProvider(given)
	if err == nil {
		entry.provider = provider
		return true
	}
	summary, detail, _ := cause.Address(err)
	d.report(diagnostic.Coded("invalid_address", diagnostic.Error(expr.Range(), summary, "%s", detail)))
	return false
}

// requiredAliases reads the configurations that callers must pass.
func (d *document) requiredAliases(entry *requiredProvider, expr hcl.Expression) {
	aliases, diags := hcl.ExprList(expr)
	d.report(diags...)
	for _, alias := range aliases {
		traversal, diags := hcl.AbsTraversalForExpr(alias)
		d.report(diags...)
		if diags.HasErrors() {
			continue
		}
		wanted := providerKey{name: traversal.RootName(), alias: static.StepName(traversal, 1)}
		switch {
		case len(traversal) > 1 && wanted.alias == "":
			d.error(expr.Range(), "Invalid configuration_aliases value",
				"A configuration alias has the form %s.alias.", entry.name)
		case wanted.name != entry.name:
			d.error(expr.Range(), "Invalid configuration_aliases value",
				"The configuration aliases of provider %q have to start with its name, and not with %q.", entry.name, wanted.name)
		case !slices.Contains(entry.aliases, wanted):
			entry.aliases = append(entry.aliases, wanted)
		}
	}
}

// checkLocalNames warns of providers with two local names in the module: a configuration under one
// name doesn't apply to the other.
func (b *builder) checkLocalNames() {
	const summary = "Duplicate required provider"
	first := map[getproviders.Provider]*requiredProvider{}
	for _, entry := range b.module.entries() {
		if other, ok := first[entry.provider]; ok {
			b.late.warn(entry.value, summary,
				"The provider %s is required as %q, too. It should have one local name.", b.product.Short(entry.provider), other.name)
			continue
		}
		first[entry.provider] = entry
	}
	for _, config := range b.module.providers {
		if entry := b.otherName(config.name, first); entry != nil {
			b.late.warn(entry.value, summary,
				"The provider %s is required as %q, and a provider block at %s implies it as %q.",
				b.product.Short(entry.provider), entry.name, config.header, config.name)
		}
	}
	for _, u := range b.module.users {
		if u.provider != nil {
			continue
		}
		if entry := b.otherName(u.localName(), first); entry != nil {
			b.late.warn(u.needed, summary,
				"The type %q implies the provider %s as %q, but it is required as %q. Use the implied name there, or write provider = %s here.",
				u.key.typ, b.product.Short(entry.provider), u.localName(), entry.name, entry.name)
		}
	}
}

// otherName returns the entry, under another local name, for the provider that a name implies; nil
// if it has none.
func (b *builder) otherName(name string, entries map[getproviders.Provider]*requiredProvider) *requiredProvider {
	if b.module.required[name] != nil {
		return nil
	}
	implied, err := b.product.ImpliedProvider(name)
	if err != nil {
		return nil
	}
	return entries[implied]
}
