package load

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// parse reads the address [module.name[key].]...[resource.]type.name[key], with anyMode also that of a data source or an ephemeral resource.
func (t *importTarget) parse(expr hcl.Expression, anyMode bool) bool {
	native, ok := static.Native(expr)
	if !ok {
		return false
	}
	steps, ok := flatten(native)
	if !ok {
		return false
	}
	rest, _ := static.SkipModules(steps)
	mode, inModule := "resource", len(rest) < len(steps)
	switch name := static.StepName(rest, 0); {
	case name == "resource": // a prefix that changes nothing
		path := steps[:len(steps)-len(rest)]
		rest = rest[1:]
		steps = slices.Concat(path, rest)
	case anyMode && (name == "data" || name == "ephemeral"):
		rest, mode = rest[1:], name
	case slices.Contains(reservedRoots(), name):
		return false
	}
	typ, name := static.StepName(rest, 0), static.StepName(rest, 1)
	if typ == "" || name == "" || len(static.SkipKey(rest[2:])) > 0 {
		return false
	}
	t.resource, t.inModule = key{mode, typ, name}, inModule
	var known bool
	t.address = pathOf(steps)
	t.keys, known = constantKeys(steps)
	t.computed = !known
	return true
}

// reservedRoots are the names that start other addresses than those of
// managed resources.
func reservedRoots() []string {
	return []string{"module", "data", "ephemeral", "action", "var", "local", "path", "terraform", "self", "each", "count"}
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

// pathOf is the steps without keys, as an address.
func pathOf(steps hcl.Traversal) string {
	var words []string
	for i := range steps {
		if name := static.StepName(steps, i); name != "" {
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
		key, ok := static.Text(index.Key)
		if !ok {
			return "", false
		}
		fmt.Fprintf(&keys, "%d:%s:%q ", i, index.Key.Type().FriendlyName(), key)
	}
	return keys.String(), true
}

// keyAt is where an instance key stands at the beginning; nil: there is none.
func keyAt(steps hcl.Traversal) *hcl.Range {
	if len(steps) == 0 {
		return nil
	}
	index, ok := steps[0].(hcl.TraverseIndex)
	if !ok {
		return nil
	}
	return &index.SrcRange
}
