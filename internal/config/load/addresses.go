package load

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// importTarget is an import block.
type importTarget struct {
	resource key
	inModule bool   // the resource is one of another module
	address  string // without keys
	keys     string // equal for equal keys
	computed bool   // whether there are keys that aren't known yet
	provider *providerRef
	header   hcl.Range
	to       hcl.Range // the address
}

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
	rest, _ := skipModules(steps)
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
	t.address = names(steps)
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

// names are the steps without keys, as an address.
func names(steps hcl.Traversal) string {
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

// skipModules returns an address without the modules that it begins with, and where the first key of one stands; nil: nowhere.
func skipModules(steps hcl.Traversal) (rest hcl.Traversal, first *hcl.Range) {
	for static.StepName(steps, 0) == "module" && static.StepName(steps, 1) != "" {
		steps = steps[2:]
		if key := keyAt(steps); key != nil {
			first, steps = cmp.Or(first, key), steps[1:]
		}
	}
	return steps, first
}

// movable is what the blocks moved and removed have the address of: a module, or a
// resource, maybe in a module.
type movable struct {
	kind        string // "module", "resource", "data" or "ephemeral"
	address     string // equal for equal addresses
	whole       hcl.Range
	moduleKey   *hcl.Range // the first key of a module in it; nil: there is none
	resourceKey *hcl.Range
}

// moved decodes a moved block. What it says matters only to a plan.
func (d *document) moved(b *block) {
	d.notInOverride(b.Block, "Cannot override 'moved' blocks")
	reserved := notMovable()
	if d.grammar.holds("moved", "any_type") {
		reserved = nil
	}
	from, to := d.movable(b.attrs["from"], reserved), d.movable(b.attrs["to"], reserved)
	if b.broken {
		return
	}
	for _, end := range []*movable{from, to} {
		if end != nil && end.kind == "ephemeral" && reserved == nil {
			d.error(b.DefRange, "Invalid \"moved\" address", "Ephemeral resources leave nothing that could be moved.")
		}
	}
	if from != nil && to != nil && (from.kind == "module") != (to.kind == "module") {
		d.error(b.DefRange, "Invalid \"moved\" addresses",
			"A module can only become a module, and a resource a resource.")
	}
}

// removed decodes a removed block. A provider that only a removed block
// mentions is not a requirement.
func (d *document) removed(b *block) {
	if d.grammar.holds("removed", "primary_files") {
		d.notInOverride(b.Block, "Cannot override 'Removed' blocks")
	}
	from := d.movable(b.attrs["from"], nil)
	switch {
	case from == nil:
		return
	case from.moduleKey != nil:
		d.error(*from.moduleKey, "Module instance keys not allowed", "All instances are removed, or none: leave out the key.")
	case from.kind == "data":
		d.error(from.whole, "Data source address not allowed", "Data sources are forgotten by themselves. The address has to be that of a resource or a module.")
	case from.resourceKey != nil:
		d.error(*from.resourceKey, "Resource instance keys not allowed", "All instances are removed, or none: leave out the key.")
	default:
		d.checkForgotten(b)
	}
	for _, provisioner := range b.of("provisioner") {
		if !d.checkProvisioner(provisioner) || from.kind == "module" {
			d.error(provisioner.DefRange, "Invalid provisioner block",
				"Only a resource has provisioners, and here only those with when = destroy.")
		}
	}
}

// checkForgotten warns where a removed block doesn't say whether objects are
// destroyed, and where it has provisioners for objects that aren't.
func (d *document) checkForgotten(b *block) {
	if b.broken || !d.grammar.holds("removed", "destroy_said") {
		return
	}
	var destroy *hcl.Attribute
	for _, lifecycle := range b.of("lifecycle") {
		if lifecycle.broken {
			return
		}
		destroy = lifecycle.attrs["destroy"]
	}
	if destroy == nil {
		d.warn(b.DefRange, "Missing lifecycle from the removed block",
			"Nothing says whether the object is destroyed or only forgotten. Add a lifecycle block with the argument \"destroy\".")
		return
	}
	if len(b.of("provisioner")) == 0 || len(static.References(destroy.Expr)) > 0 {
		return
	}
	if val, diags := static.Evaluate(destroy.Expr); !diags.HasErrors() && val.RawEquals(cty.False) {
		d.warn(b.DefRange, "Removed block provisioners will not be executed",
			"The object is only forgotten: with destroy = false, nothing runs the provisioners of the block.")
	}
}

// notMovable are the words that an address in a moved block can't begin with, because
// they mean something else. To OpenTofu they are types of resources there.
func notMovable() []string {
	return slices.DeleteFunc(reservedRoots(), func(word string) bool { return word == "action" })
}

// movable reads an address; nil if it is none, which is reported. It doesn't begin with
// the reserved words.
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
	found := &movable{kind: "resource", address: names(steps) + " " + keys, whole: attr.Expr.Range()}
	rest, moduleKey := skipModules(steps)
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
