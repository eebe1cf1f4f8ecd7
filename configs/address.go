package configs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
)

// reservedRoots are the names that start other addresses than those of
// managed resources.
func reservedRoots() []string {
	return []string{"module", "data", "ephemeral", "action", "var", "local", "path", "terraform", "self", "each", "count"}
}

// embedded returns an expression in the native syntax. In JSON it is inside a
// string.
func embedded(expr hcl.Expression) (hclsyntax.Expression, bool) {
	if !json.IsJSONExpression(expr) {
		native, ok := expr.(hclsyntax.Expression)
		return native, ok
	}
	src, ok := literal(expr)
	if !ok || tooDeep([]byte(src), false) {
		return nil, false
	}
	native, diags := hclsyntax.ParseExpression([]byte(src), expr.Range().Filename, expr.Range().Start)
	return native, !diags.HasErrors()
}

// flatten returns an address as its steps; keys that aren't constant are
// unknown values.
func flatten(expr hclsyntax.Expression) (hcl.Traversal, bool) {
	switch e := expr.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return slices.Clip(e.Traversal), true
	case *hclsyntax.RelativeTraversalExpr:
		steps, ok := flatten(e.Source)
		return append(steps, e.Traversal...), ok
	case *hclsyntax.IndexExpr:
		steps, ok := flatten(e.Collection)
		return append(steps, hcl.TraverseIndex{Key: cty.DynamicVal, SrcRange: e.BracketRange}), ok
	}
	return nil, false
}

// stepName is the name at a step; "" if there is none.
func stepName(steps hcl.Traversal, i int) string {
	if i >= len(steps) {
		return ""
	}
	switch step := steps[i].(type) {
	case hcl.TraverseRoot:
		return step.Name
	case hcl.TraverseAttr:
		return step.Name
	}
	return ""
}

// skipKey drops an instance key at the beginning.
func skipKey(steps hcl.Traversal) hcl.Traversal {
	if len(steps) > 0 {
		if _, ok := steps[0].(hcl.TraverseIndex); ok {
			return steps[1:]
		}
	}
	return steps
}

// names are the steps without keys, as an address.
func names(steps hcl.Traversal) string {
	var words []string
	for i := range steps {
		if name := stepName(steps, i); name != "" {
			words = append(words, name)
		}
	}
	return strings.Join(words, ".")
}

// constantKeys are the keys, in a form that tells where they stand; false if
// one has to be computed.
func constantKeys(steps hcl.Traversal) (string, bool) {
	var keys strings.Builder
	for i, step := range steps {
		index, ok := step.(hcl.TraverseIndex)
		if !ok {
			continue
		}
		key, ok := text(index.Key)
		if !ok {
			return "", false
		}
		fmt.Fprintf(&keys, "%d:%s:%q ", i, index.Key.Type().FriendlyName(), key)
	}
	return keys.String(), true
}
