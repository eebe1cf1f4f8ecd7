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

// movable is an address in a moved or removed block: a module, or a resource, maybe in a module.
type movable struct {
	kind        string // "module", "resource", "data" or "ephemeral"
	address     string // equal for equal addresses
	whole       hcl.Range
	moduleKey   *hcl.Range // the first key of a module in it; nil if it has none
	resourceKey *hcl.Range
}

// movable reads an address that doesn't begin with a reserved word. It reports other expressions
// and returns nil.
func (d *document) movable(attr *hcl.Attribute, reserved []string) *movable {
	if attr == nil {
		return nil
	}
	steps, diags := hcl.AbsTraversalForExpr(attr.Expr)
	d.report(diags...)
	if diags.HasErrors() {
		return nil
	}
	keys, _ := constantKeys(steps)
	found := &movable{kind: "resource", address: pathOf(steps) + " " + keys, whole: attr.Expr.Range()}
	rest, moduleKey := static.SkipModules(steps)
	found.moduleKey = moduleKey
	switch root := static.StepName(rest, 0); {
	case len(rest) == 0:
		found.kind = "module"
		return found
	case root == "":
		return d.noAddress(rest[0].SourceRange())
	case root == "module" && len(rest) == 1 && len(steps) > 1:
		d.error(rest[0].SourceRange(), "Invalid address operator", "The name of a module has to follow.")
		return nil
	case root == "module":
		return d.noAddress(found.whole)
	case root == "data" || root == "resource" || root == "ephemeral":
		found.kind, rest = root, rest[1:]
	case slices.Contains(reserved, root):
		return d.noAddress(found.whole)
	}
	if static.StepName(rest, 0) == "" || static.StepName(rest, 1) == "" {
		return d.noAddress(found.whole)
	}
	rest = rest[2:]
	if found.resourceKey = keyAt(rest); found.resourceKey != nil {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		return d.noAddress(rest[0].SourceRange())
	}
	return found
}

func (d *document) noAddress(at hcl.Range) *movable {
	d.error(at, "Invalid address", "It has to be the address of a module, such as module.example, or of a resource, such as aws_instance.example.")
	return nil
}

// notTargets are the words that the address of a target can't begin with.
var notTargets = []string{"count", "each", "local", "path", "self", "terraform", "var", "template", "lazy", "arg"}

// target returns the address whose values a block sets; "" if it is missing or invalid, which is
// reported.
func (d *document) target(b *block) string {
	attr := b.attrs["target"]
	if attr == nil {
		summary := "Missing target attribute"
		if d.product.Understands("keyless") {
			summary = "Missing required argument"
		}
		d.error(b.DefRange, summary, "The block needs the argument \"target\", which says whose values it gives.")
		return ""
	}
	target := d.movable(attr, notTargets)
	if target == nil {
		return ""
	}
	if d.product.Understands("keyless") {
		d.checkKeyless(attr, target)
		return target.address
	}
	if wants := strings.TrimPrefix(b.Type, "override_"); target.kind != wants {
		d.error(attr.Range, "Invalid override target", "In a block %q, the target has to be a %s.", b.Type, wants)
		return ""
	}
	return target.address
}

// checkKeyless reports keys in the address of a target, which OpenTofu refuses.
func (d *document) checkKeyless(attr *hcl.Attribute, target *movable) {
	of := "Resource"
	switch {
	case target.moduleKey != nil:
		of = "Module"
	case target.resourceKey == nil:
		return
	}
	d.error(attr.Expr.Range(), of+" instance address with keys is not allowed",
		"The values are those of all instances: leave out the key.")
}

// parse reads the address [module.name[key].]...[resource.]type.name[key]; with anyMode also one of a data source or an ephemeral resource.
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
	case name == "resource": // an optional prefix
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

// reservedRoots returns the names that begin addresses of anything but managed resources.
func reservedRoots() []string {
	return []string{"module", "data", "ephemeral", "action", "var", "local", "path", "terraform", "self", "each", "count"}
}

// flatten returns an address as its steps. Keys that aren't constant become unknown values.
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

// pathOf returns the steps of an address without keys.
func pathOf(steps hcl.Traversal) string {
	var words []string
	for i := range steps {
		if name := static.StepName(steps, i); name != "" {
			words = append(words, name)
		}
	}
	return strings.Join(words, ".")
}

// constantKeys returns the keys with their positions as text; false if a key isn't constant.
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

// keyAt returns the range of an instance key at the beginning, or nil.
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
