package load

import (
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static"
)

// provider decodes a provider block, without the arguments that the provider defines.
func (d *document) provider(b *block) {
	config := &providerConfig{providerKey: d.configuration(b), header: b.DefRange, forEach: b.attrs["for_each"]}
	if attr := b.attrs["version"]; attr != nil {
		d.warn(attr.Expr.Range(), "Version constraints inside provider configuration blocks are deprecated",
			"The version constraint of a provider belongs in the required_providers block.")
		config.version = d.versionConstraint(attr)
	}
	config.configured = config.version != nil || hasContent(b.rest)
	for _, escaping := range b.of("_") {
		config.configured = config.configured || hasContent(escaping.Body)
	}
	if attr := config.forEach; attr != nil && d.hasInstances() && config.alias == "" {
		d.error(attr.Expr.Range(), "Alias required when using \"for_each\"",
			"There can be several instances of a provider's configuration only if it has an alias.")
	}
	d.declare(b.DefRange, key{"provider", config.name, config.alias}, config)
}

// configuration reads the name and alias of a provider block.
func (d *document) configuration(b *block) providerKey {
	k := providerKey{name: b.Labels[0]}
	d.checkLocalName(k.name, b.DefRange)
	if attr := b.attrs["alias"]; attr != nil {
		k.alias = d.readAlias(attr)
	}
	return k
}

// hasContent reports whether a body has anything but an escaping block.
func hasContent(b hcl.Body) bool {
	attrs, _ := b.JustAttributes()
	native, ok := b.(*hclsyntax.Body) // in JSON, blocks are attributes as well
	return len(attrs) > 0 || ok && slices.ContainsFunc(native.Blocks, func(b *hclsyntax.Block) bool { return b.Type != "_" })
}

// readAlias reads the alias of a provider configuration; "" if it has no value.
func (d *document) readAlias(attr *hcl.Attribute) string {
	val, diags := static.Evaluate(attr.Expr)
	d.report(diags...)
	if diags.HasErrors() || val.IsNull() {
		d.error(attr.Expr.Range(), "Unsuitable value type", "The alias has to be a string.")
		return ""
	}
	alias, ok := static.Text(val)
	if !ok || !hclsyntax.ValidIdentifier(alias) {
		d.error(attr.Expr.Range(), "Invalid provider configuration alias",
			"An alias is a name: a letter or underscore first, then letters, digits, underscores and dashes.")
	}
	return alias
}

// providerRef reads the "provider" argument of a resource: "name" or "name.alias", also in quotes,
// the old syntax. It returns nil if the argument is missing or invalid.
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

// reference reads a reference of one or two steps.
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

func badProviderRef(at hcl.Range) *hcl.Diagnostic {
	return diagnostic.Error(at, "Invalid provider configuration reference",
		"A provider is referred to by its local name, which a period and an alias may follow.")
}

// checkUsers reports types that can't belong to any provider.
func (b *builder) checkUsers() {
	for _, u := range b.module.users {
		if u.provider != nil {
			continue
		}
		if _, err := getproviders.NormalizePart(u.localName()); err != nil {
			b.late.error(u.needed, "Invalid provider local name",
				"The type %q implies the local name %q, which no provider can have: %v.", u.key.typ, u.localName(), err)
		}
	}
}

// passedProviders reads the argument "providers". It leaves out invalid entries, which are
// reported.
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
			key = wrapped.Wrapped // the key is a name, not a variable
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

// readDependsOn reads the argument "depends_on", which override files can't change.
func (d *document) readDependsOn(attr *hcl.Attribute) (all []hcl.Traversal) {
	for _, expr := range d.elements(attr) {
		switch traversal := d.traversal(expr); {
		case len(traversal) == 0:
		case traversal.RootName() == "action":
			d.error(expr.Range(), "Invalid depends_on Action Reference", "It can't refer to an action.")
		default:
			all = append(all, traversal)
		}
	}
	if d.override && len(all) > 0 {
		d.error(all[0].SourceRange(), "Unsupported override",
			"An override file can't change depends_on: write it in the block that is overridden.")
		return nil
	}
	return all
}

// hasInstances reports whether provider configurations can have instances.
func (d *document) hasInstances() bool {
	return d.grammar.form("provider").rows["for_each"].kind == "any"
}

// withoutKey cuts off the key of a configuration's instance, and returns its range, or nil.
func (d *document) withoutKey(expr hcl.Expression) (hcl.Expression, *hcl.Range) {
	if !d.hasInstances() {
		return expr, nil
	}
	if native, ok := static.Native(expr); ok {
		expr = native // in JSON, the reference is in a string
	}
	if index, ok := expr.(*hclsyntax.IndexExpr); ok {
		return index.Collection, index.Key.Range().Ptr()
	}
	if found, _ := hcl.AbsTraversalForExpr(expr); len(found) > 1 && len(found) <= 3 {
		last := len(found) - 1
		if _, ok := found[last].(hcl.TraverseIndex); ok {
			return &hclsyntax.ScopeTraversalExpr{Traversal: found[:last], SrcRange: expr.Range()}, found[last].SourceRange().Ptr()
		}
	}
	return expr, nil
}

// resolveInstances evaluates for_each of provider blocks, which must be known before anything is installed.
func (b *builder) resolveInstances() {
	if !b.product.Understands("for_each") {
		return
	}
	for _, config := range b.module.providers {
		if config.forEach == nil {
			continue
		}
		val, problems := b.scope.Static("provider."+config.name+"."+config.alias+".for_each", config.forEach.Expr)
		if b.found.report(problems...); len(problems) > 0 {
			continue
		}
		if reason := noInstances(val); reason != "" {
			b.found.error(config.forEach.Expr.Range(), "Invalid for_each argument", "The value has to be a map, or a set of strings, and %s.", reason)
		}
	}
}

// noInstances returns why for_each can't have a value; "" if it can, or the value is unknown.
func noInstances(val cty.Value) string {
	if sensitive, ephemeral := static.Secrets(val); sensitive || ephemeral {
		return "can't be sensitive or ephemeral: its keys are shown"
	}
	val, _ = val.UnmarkDeep()
	typ := val.Type()
	switch {
	case val.IsNull():
		return "is null"
	case typ == cty.DynamicPseudoType || typ.IsMapType() || typ.IsObjectType():
		return ""
	case !typ.IsSetType():
		return "is a " + typ.FriendlyName()
	case !typ.ElementType().Equals(cty.String) && typ.ElementType() != cty.DynamicPseudoType:
		return "has elements that aren't strings"
	case val.IsKnown() && slices.ContainsFunc(val.AsValueSlice(), cty.Value.IsNull):
		return "has an element that is null"
	}
	return ""
}

// checkInstances checks that references to configurations have a key exactly if the configuration
// has instances. It warns of objects with the same keys as their provider: they can't be destroyed
// after a key is removed, because their provider is gone, too.
func (b *builder) checkInstances() {
	if !b.product.Understands("for_each") {
		return
	}
	for _, u := range b.module.users {
		if u.provider != nil {
			b.checkInstance(u.provider, "resource")
		}
		if u.provider != nil && u.key.block == "resource" {
			b.checkSameKeys(u.provider, u.forEach, "resource", u.key.typ+"."+u.key.name)
		}
	}
	for _, call := range b.module.Calls {
		for _, passed := range call.providers {
			if at := passed.child.instance; at != nil {
				b.found.error(*at, wrongReference, "A module is passed configurations, not instances of them: leave out the key on the left.")
				continue
			}
			b.checkInstance(&passed.parent, "module")
			b.checkSameKeys(&passed.parent, call.own["for_each"], "module", "module."+call.Name)
		}
	}
}

// wrongReference is the summary for a key that a reference can't have.
const wrongReference = "Invalid provider configuration reference"

// checkInstance reports a key for a configuration without instances, and a missing key for one with
// instances.
func (b *builder) checkInstance(ref *providerRef, what string) {
	config := b.module.configs[ref.providerKey]
	summary, hasInstances := "Invalid "+what+" provider configuration", config != nil && config.forEach != nil
	switch {
	case ref.instance != nil && ref.alias == "":
		b.found.error(*ref.instance, wrongReference, "The configuration %s has no alias, and so no instances with keys.", ref)
	case ref.instance != nil && config == nil && ref.alias != "":
		b.late.error(ref.at, summary, "The module has no provider block %q with the alias %q, which could have instances.", ref.name, ref.alias)
	case ref.instance != nil && !hasInstances:
		b.late.error(*ref.instance, summary, "The provider block of %s has no for_each, and so no instances with keys.", ref)
	case ref.instance == nil && hasInstances:
		b.late.error(ref.at, summary, "The configuration %s has instances: a key has to say which of them is meant.", ref)
	}
}

// checkSameKeys warns of objects with the same for_each as their provider.
func (b *builder) checkSameKeys(ref *providerRef, forEach *hcl.Attribute, what, address string) {
	config := b.module.configs[ref.providerKey]
	if ref.instance == nil || forEach == nil || config == nil || config.forEach == nil || json.IsJSONExpression(forEach.Expr) {
		return
	}
	if len(forEach.Expr.Variables()) == 0 || len(config.forEach.Expr.Variables()) == 0 || b.written(forEach) != b.written(config.forEach) {
		return
	}
	if b.module.Path != "" {
		address = b.module.Path + "." + address
	}
	b.late.warn(forEach.Expr.Range(), "Provider configuration for_each matches "+what,
		"The provider block of %s has the same for_each. When a key is removed, the instance that would destroy %s[key] is gone as well. "+
			"Let for_each of the provider have keys for longer, or destroy the object first:\n    %s apply -destroy -target=%s",
		ref, address, b.product.Program, address)
}

// written returns the source of an expression without white space and outer parentheses.
func (b *builder) written(attr *hcl.Attribute) string {
	expr := attr.Expr
	for {
		inner, ok := expr.(*hclsyntax.ParenthesesExpr)
		if !ok {
			break
		}
		expr = inner.Expression
	}
	at := expr.Range()
	file := b.module.Files[at.Filename]
	if file == nil || !at.CanSliceBytes(file.Bytes) {
		return at.String()
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, string(at.SliceBytes(file.Bytes)))
}
