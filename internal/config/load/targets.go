package load

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

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

// target returns the address of what a block gives the values of; "" if there is
// none that the block can have.
func (d *document) target(b *block) string {
	attr := b.attrs["target"]
	if attr == nil {
		summary := "Missing target attribute"
		if d.product.Understands("keyless") {
			summary = "Missing required argument"
		}
		d.error(b.DefRange, summary, "The block says whose values it gives with the argument \"target\".")
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

// checkKeyless reports keys in the address of a target, which OpenTofu doesn't take.
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
