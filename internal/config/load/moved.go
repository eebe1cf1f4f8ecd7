package load

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

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
	rest := steps
	for static.StepName(rest, 0) == "module" {
		if static.StepName(rest, 1) == "" {
			return d.noAddress(found.whole)
		}
		rest = rest[2:]
		if key := keyAt(rest); key != nil {
			found.moduleKey, rest = cmp.Or(found.moduleKey, key), rest[1:]
		}
		if len(rest) == 0 {
			found.kind = "module"
			return found
		}
		if _, ok := rest[0].(hcl.TraverseAttr); !ok {
			return d.noAddress(rest[0].SourceRange())
		}
		if static.StepName(rest, 0) == "module" && len(rest) == 1 {
			d.error(rest[0].SourceRange(), "Invalid address operator", "The name of a module has to follow.")
			return nil
		}
	}
	switch root := static.StepName(rest, 0); {
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
