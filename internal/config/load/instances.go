package load

import (
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// resolveInstances evaluates for_each of provider blocks, whose value has to be known before anything is installed.
func (b *builder) resolveInstances() {
	if !b.product.Understands("for_each") {
		return
	}
	for _, config := range b.module.providers {
		if config.forEach == nil {
			continue
		}
		val, problems := b.scope.Static("provider."+config.name+"."+config.alias+".for_each", config.forEach.Expr)
		if b.report(problems...); len(problems) > 0 {
			continue
		}
		if reason := noInstances(val); reason != "" {
			b.error(config.forEach.Expr.Range(), "Invalid for_each argument", "The value has to be a map, or a set of strings, and %s.", reason)
		}
	}
}

// noInstances says why for_each can't have a value; "": it can, or it isn't known.
func noInstances(val cty.Value) string {
	if sensitive, ephemeral := static.SecretsOf(val); sensitive || ephemeral {
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
		return "has elements that are no strings"
	case val.IsKnown() && slices.ContainsFunc(val.AsValueSlice(), cty.Value.IsNull):
		return "has an element that is null"
	}
	return ""
}

// checkInstances compares references to configurations of providers with whether those
// have instances. What has instances for the same keys as a provider can't be
// destroyed once a key is gone, as its provider goes with it, which is a warning.
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
				b.error(*at, wrongReference, "A module is passed configurations, not instances of them: leave out the key on the left.")
				continue
			}
			b.checkInstance(&passed.parent, "module")
			b.checkSameKeys(&passed.parent, b.calls[call.Name].forEach, "module", "module."+call.Name)
		}
	}
}

// wrongReference is how a key is called where there can't be any.
const wrongReference = "Invalid provider configuration reference"

// checkInstance reports a key of a configuration without instances, and one with
// instances of which none is chosen.
func (b *builder) checkInstance(ref *providerRef, what string) {
	config := b.providers[key{"provider", ref.name, ref.alias}]
	summary, hasInstances := "Invalid "+what+" provider configuration", config != nil && config.forEach != nil
	switch {
	case ref.instance != nil && ref.alias == "":
		b.error(*ref.instance, wrongReference, "The configuration %s has no alias, and so no instances with keys.", ref)
	case ref.instance != nil && config == nil && ref.alias != "":
		b.late.error(ref.at, summary, "The module has no provider block %q with the alias %q, which could have instances.", ref.name, ref.alias)
	case ref.instance != nil && !hasInstances:
		b.late.error(*ref.instance, summary, "The provider block of %s has no for_each, and so no instances with keys.", ref)
	case ref.instance == nil && hasInstances:
		b.late.error(ref.at, summary, "The configuration %s has instances: a key has to say which of them is meant.", ref)
	}
}

// checkSameKeys warns of what goes when its provider goes.
func (b *builder) checkSameKeys(ref *providerRef, forEach *hcl.Attribute, what, address string) {
	config := b.providers[key{"provider", ref.name, ref.alias}]
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

// written is how an expression is written, without white space and parentheses around it.
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
