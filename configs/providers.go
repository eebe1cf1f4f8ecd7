package configs

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfdeps/tfdeps/configs/internal/diagnostic"
	"github.com/tfdeps/tfdeps/configs/static"
	"github.com/tfdeps/tfdeps/getproviders"
)

// provider decodes a provider block, as far as it isn't the provider's own.
func (d *document) provider(block *hcl.Block, content *hcl.BodyContent) {
	config := &providerConfig{providerKey: providerKey{name: block.Labels[0]}, header: block.DefRange}
	d.checkLocalName(config.name, block.DefRange)
	if attr, ok := content.Attributes["alias"]; ok {
		config.alias = d.alias(attr)
	}
	if attr, ok := content.Attributes["version"]; ok {
		d.report(diagnostic.Warning(attr.Expr.Range(), "Version constraints inside provider configuration blocks are deprecated",
			"The version constraint of a provider belongs in the required_providers block."))
		config.version = d.versionConstraint(attr)
	}
	config.configured = config.version != nil || d.configured(block, content)
	config.forEach = content.Attributes["for_each"]
	d.checkReservedArguments(content)
	if attr, ok := content.Attributes["for_each"]; ok && d.hasInstances() && config.alias == "" {
		d.report(diagnostic.Error(attr.NameRange, "Alias required when using \"for_each\"",
			"There can be several instances of a provider's configuration only if it has an alias."))
	}
	d.checkReservedBlocks(content, "provider", "lifecycle", "locals")
	d.checkOnce(content, "_", "Duplicate escaping block")
	d.declare(block.DefRange, "provider", config.name, config.alias)
	d.providers = append(d.providers, config)
}

// configured reports whether a provider block has anything for the provider.
func (d *document) configured(block *hcl.Block, content *hcl.BodyContent) bool {
	_, rest, _ := block.Body.PartialContent(d.rules["provider"].body)
	bodies := []hcl.Body{rest}
	for _, escaping := range content.Blocks.OfType("_") {
		bodies = append(bodies, escaping.Body)
	}
	return slices.ContainsFunc(bodies, hasContent)
}

// hasContent reports whether there is anything in a body but an escaping block.
func hasContent(b hcl.Body) bool {
	attrs, _ := b.JustAttributes()
	native, ok := b.(*hclsyntax.Body) // in JSON blocks are attributes as well
	return len(attrs) > 0 || ok && slices.ContainsFunc(native.Blocks, func(b *hclsyntax.Block) bool { return b.Type != "_" })
}

// checkReservedArguments reports arguments of a provider block that have no
// meaning.
func (d *document) checkReservedArguments(content *hcl.BodyContent) {
	for _, name := range []string{"count", "depends_on", "for_each", "source"} {
		if attr, ok := content.Attributes[name]; ok && !(name == "for_each" && d.hasInstances()) {
			d.report(diagnostic.Error(attr.NameRange, "Reserved argument name in provider block",
				"The argument %q has no meaning here; the name is reserved.", name))
		}
	}
}

// alias reads the name of a further configuration of a provider; "" if it has
// no value.
func (d *document) alias(attr *hcl.Attribute) string {
	val, diags := static.Evaluate(attr.Expr)
	d.report(diags...)
	if diags.HasErrors() || val.IsNull() {
		d.report(diagnostic.Error(attr.Expr.Range(), "Unsuitable value type", "The alias has to be a string."))
		return ""
	}
	alias, ok := static.Text(val)
	if !ok || !hclsyntax.ValidIdentifier(alias) {
		d.report(diagnostic.Error(attr.Expr.Range(), "Invalid provider configuration alias",
			"An alias is a name: a letter or underscore first, then letters, digits, underscores and dashes."))
	}
	return alias
}

// providerRef reads the "provider" argument of a resource: "name" or
// "name.alias", without quotes, which was written with quotes once. It is nil
// if the argument is missing or wrong.
func (d *document) providerRef(attr *hcl.Attribute) *providerRef {
	if attr == nil {
		return nil
	}
	ref := d.providerName(attr.Expr)
	if ref != nil {
		ref.attr = attr.Range
	}
	return ref
}

// providerName reads "name" or "name.alias".
func (d *document) providerName(expr hcl.Expression) *providerRef {
	expr, instance := d.withoutKey(expr)
	traversal, ok := d.reference(expr)
	if !ok {
		return nil
	}
	ref := &providerRef{providerKey: providerKey{name: traversal.RootName()}, at: traversal[0].SourceRange(), instance: instance}
	if !d.checkLocalName(ref.name, ref.at) {
		return nil
	}
	if len(traversal) == 1 {
		return ref
	}
	alias, ok := traversal[1].(hcl.TraverseAttr)
	if !ok {
		d.report(badProviderRef(traversal[1].SourceRange()))
		return nil
	}
	ref.alias = alias.Name
	return ref
}

// reference reads an expression of one or two steps.
func (d *document) reference(expr hcl.Expression) (hcl.Traversal, bool) {
	traversal, broken := d.unquoted(expr)
	if len(traversal) == 0 {
		traversal, _ = hcl.AbsTraversalForExpr(expr) // the error below says more
	}
	if len(traversal) == 0 || len(traversal) > 2 {
		d.report(badProviderRef(expr.Range()))
		return nil, false
	}
	return traversal, !broken
}

// unquoted reads a reference that stands in quotes, as it had to once. It is
// empty if there is none, and broken if it goes on with something else, which is reported.
func (d *document) unquoted(expr hcl.Expression) (traversal hcl.Traversal, broken bool) {
	old, ok := quoted(expr)
	if !ok {
		return nil, false
	}
	inside := expr.Range().Start
	inside.Column, inside.Byte = inside.Column+1, inside.Byte+1
	traversal, diags := hclsyntax.ParseTraversalAbs([]byte(old), expr.Range().Filename, inside)
	d.report(diags...)
	d.report(diagnostic.Warning(expr.Range(), "Quoted references are deprecated", "References are written without quotes: %s", old))
	return traversal, diags.HasErrors()
}

func badProviderRef(at hcl.Range) *hcl.Diagnostic {
	return diagnostic.Error(at, "Invalid provider configuration reference",
		"A provider is referred to by its local name, which a period and an alias may follow.")
}

// requiredProviders decodes a required_providers block.
func (d *document) requiredProviders(block *hcl.Block) {
	attrs, diags := block.Body.JustAttributes()
	d.report(diags...)
	required := requiredBlock{header: block.DefRange}
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		if entry := d.requiredProvider(attrs[name]); entry != nil {
			required.entries = append(required.entries, entry)
		}
	}
	d.required = append(d.required, required)
}

// misplacedRequiredProviders says where the block belongs.
func (d *document) misplacedRequiredProviders(block *hcl.Block, _ *hcl.BodyContent) {
	d.report(diagnostic.Error(block.DefRange, "Invalid required_providers block", "It has to stand inside a \"terraform\" block."))
}

// requiredProvider decodes an entry: an object, or a string that is the
// version constraint. It is nil if the entry doesn't say which provider is
// meant.
func (d *document) requiredProvider(attr *hcl.Attribute) *requiredProvider {
	entry := &requiredProvider{name: attr.Name, value: attr.Expr.Range(), entry: attr.Range}
	pairs, diags := hcl.ExprMap(attr.Expr)
	isObject := !diags.HasErrors()
	if isObject && !d.checkLocalName(attr.Name, entry.value) {
		return nil
	}
	implied, err := d.product.ImpliedProvider(attr.Name)
	if err != nil {
		d.report(diagnostic.Error(entry.value, "Invalid provider name", "%q can't be the name of a provider: %v.", attr.Name, err))
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
		d.report(diagnostic.Error(entry.value, "Invalid required_providers object",
			"The entry of a provider has to be an object, or a string with a version constraint."))
		return nil
	}
	entry.version = d.parseConstraint(given, attr.Range, entry.value)
	return entry
}

// requiredObject decodes the object of an entry; false if its source is wrong.
func (d *document) requiredObject(entry *requiredProvider, pairs []hcl.KeyValuePair) bool {
	valid := true
	for _, pair := range pairs {
		if _, diags := static.Evaluate(pair.Key); diags.HasErrors() {
			d.report(diags...)
			continue
		}
		name, ok := static.Literal(pair.Key)
		if !ok {
			d.report(diagnostic.Error(pair.Key.Range(), "Invalid Attribute", "The arguments of a required provider have names, which are strings."))
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
			d.report(diagnostic.Error(pair.Key.Range(), "Invalid required_providers object",
				"There are only the arguments \"source\", \"version\" and \"configuration_aliases\" here. Configuration of the provider belongs in a \"provider\" block."))
			return valid
		}
	}
	return valid
}

func (d *document) requiredVersion(entry *requiredProvider, expr hcl.Expression) {
	given, ok := static.Literal(expr)
	if !ok {
		d.report(diagnostic.Error(expr.Range(), "Invalid version constraint", "The version constraint has to be a string."))
		return
	}
	entry.version = d.parseConstraint(given, entry.entry, expr.Range())
}

// requiredSource reports whether the source is an address.
func (d *document) requiredSource(entry *requiredProvider, expr hcl.Expression) bool {
	given, ok := static.Literal(expr)
	if !ok {
		d.report(diagnostic.Error(expr.Range(), "Invalid source", "The source has to be a string."))
		return false
	}
	provider, err := d.product.ParseProvider(given)
	if err == nil {
		entry.provider = provider
		return true
	}
	summary, detail := "Invalid provider source string", err.Error()
	if address := (*getproviders.AddressError)(nil); errors.As(err, &address) {
		summary, detail = address.Summary(), address.Detail
	}
	d.report(diagnostic.Error(expr.Range(), summary, "%s", detail))
	return false
}

// requiredAliases reads the configurations that callers have to pass.
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
			d.report(diagnostic.Error(expr.Range(), "Invalid configuration_aliases value",
				"A configuration alias has the form %s.alias.", entry.name))
		case wanted.name != entry.name:
			d.report(diagnostic.Error(expr.Range(), "Invalid configuration_aliases value",
				"The configuration aliases of provider %q have to start with its name, and not with %q.", entry.name, wanted.name))
		case !slices.Contains(entry.aliases, wanted):
			entry.aliases = append(entry.aliases, wanted)
		}
	}
}

// byName orders entries by local name.
func byName(a, b *requiredProvider) int { return cmp.Compare(a.name, b.name) }

// checkLocalName reports a local name that no provider can have.
func (d *document) checkLocalName(name string, at hcl.Range) bool {
	normal, err := getproviders.NormalizePart(name)
	switch {
	case err != nil:
		d.report(diagnostic.Error(at, "Invalid provider local name", "%q can't be the local name of a provider: %v.", name, err))
	case normal != name:
		d.report(diagnostic.Error(at, "Invalid provider local name", "Write %q as it is used everywhere, %q.", name, normal))
	}
	return err == nil && normal == name
}

// checkLocalNames warns of providers that go by two local names in the module: a
// configuration under one of them is not found under the other.
func (b *builder) checkLocalNames() {
	const summary = "Duplicate required provider"
	first := map[getproviders.Provider]*requiredProvider{}
	for _, entry := range b.module.required {
		if other, ok := first[entry.provider]; ok {
			b.late = append(b.late, diagnostic.Warning(entry.value, summary,
				"The provider %s is required as %q, too. It should have one local name.", b.product.Short(entry.provider), other.name))
			continue
		}
		first[entry.provider] = entry
	}
	for _, config := range b.module.providers {
		if entry := b.otherName(config.name, first); entry != nil {
			b.late = append(b.late, diagnostic.Warning(entry.value, summary,
				"The provider %s is required as %q, and a provider block at %s implies it as %q.",
				b.product.Short(entry.provider), entry.name, config.header, config.name))
		}
	}
	for _, u := range b.module.users {
		if u.provider != nil {
			continue
		}
		if entry := b.otherName(u.localName(), first); entry != nil {
			b.late = append(b.late, diagnostic.Warning(u.needed, summary,
				"The type %q implies the provider %s as %q, but it is required as %q. Use the implied name there, or write provider = %s here.",
				u.key.typ, b.product.Short(entry.provider), u.localName(), entry.name, entry.name))
		}
	}
}

// otherName returns the entry for the provider that a local name implies, if
// that has another local name; nil if there is none.
func (b *builder) otherName(name string, entries map[getproviders.Provider]*requiredProvider) *requiredProvider {
	if _, ok := b.required[name]; ok {
		return nil
	}
	implied, err := b.product.ImpliedProvider(name)
	if err != nil {
		return nil
	}
	return entries[implied]
}

// checkUsers reports types that can't be any provider's.
func (b *builder) checkUsers() {
	for _, u := range b.module.users {
		if u.provider != nil {
			continue
		}
		if _, err := getproviders.NormalizePart(u.localName()); err != nil {
			b.late = append(b.late, diagnostic.Error(u.needed, "Invalid provider local name",
				"The type %q implies the local name %q, which no provider can have: %v.", u.key.typ, u.localName(), err))
		}
	}
}
