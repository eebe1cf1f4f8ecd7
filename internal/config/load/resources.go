package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// resource decodes blocks with a provider's type: resource, data, ephemeral and action blocks.
func (d *document) resource(b *block) {
	typ, name := b.Labels[0], b.Labels[1]
	whatType, whatName := resourceWords(b.Type)
	validType := d.checkName(whatType, typ, b.LabelRanges[0])
	d.checkName(whatName, name, b.LabelRanges[1])
	d.checkRepetition(b)
	d.readDependsOn(b.attrs["depends_on"])
	for _, lifecycle := range b.of("lifecycle") {
		d.checkNotItself(lifecycle, b)
		for _, inner := range lifecycle.blocks {
			if inner.Type == "action_trigger" && b.Type == "resource" {
				d.checkTrigger(inner)
			}
		}
	}
	switch {
	case b.Type == "resource":
		d.checkProvisioners(b)
	case b.Type == "ephemeral" && d.grammar.holds("ephemeral", "provisioners_refused"):
		for _, inner := range b.blocks {
			if inner.Type == "connection" || inner.Type == "provisioner" {
				d.error(inner.DefRange, "Invalid configuration block for ephemeral resource", "A block %q has no meaning here.", inner.Type)
			}
		}
	}
	u := &user{
		key:      key{b.Type, typ, name},
		provider: d.providerRef(b.attrs["provider"]),
		forEach:  b.attrs["for_each"],
		needed:   b.DefRange,
	}
	var usable any
	if validType {
		usable = u
	}
	d.declare(b.DefRange, u.key, usable)
}

// checkNotItself reports conditions that refer to their own block by its address.
func (d *document) checkNotItself(lifecycle, b *block) {
	for _, inner := range slices.Concat(lifecycle.of("precondition"), lifecycle.of("postcondition")) {
		for _, attr := range inner.attrs {
			if slices.ContainsFunc(static.References(attr.Expr), func(t hcl.Traversal) bool {
				if root := t.RootName(); root == b.Type {
					t = t[1:]
				} else if b.Type != "resource" {
					return false
				}
				return static.StepName(t, 0) == b.Labels[0] && static.StepName(t, 1) == b.Labels[1]
			}) {
				d.error(attr.Expr.Range(), "Invalid reference in "+inner.Type,
					"The block refers to itself by its address. In a postcondition, that is the word self.")
			}
		}
	}
}

// check decodes a check block, which may have one data block of its own.
func (d *document) check(b *block) {
	if d.notInOverride(b.Block, "Can't override check blocks"); d.override {
		return
	}
	d.checkName("check block name", b.Labels[0], b.LabelRanges[0])
	d.declare(b.DefRange, key{"check", "", b.Labels[0]}, nil)
	if len(b.of("assert")) == 0 {
		d.error(b.DefRange, "Zero assert blocks", "A check block needs an assert block, or it checks nothing.")
	}
	for _, data := range b.of("data") {
		for _, name := range []string{"count", "for_each"} {
			if attr := data.attrs[name]; attr != nil {
				d.error(attr.NameRange, fmt.Sprintf("Invalid %q attribute", name), "The data source of a check has exactly one instance.")
			}
		}
		for _, lifecycle := range data.of("lifecycle") {
			d.error(lifecycle.DefRange, "Invalid lifecycle block", "The data source of a check can't have this block.")
		}
		d.resource(data)
	}
}

// checkRepetition reports blocks with more than one of count, for_each, and enabled in a lifecycle
// block.
func (d *document) checkRepetition(b *block) {
	given := []*hcl.Attribute{b.attrs["count"], b.enabledBy(), b.attrs["for_each"]}
	given = slices.DeleteFunc(given, func(attr *hcl.Attribute) bool { return attr == nil })
	if len(given) < 2 {
		return
	}
	names := make([]string, len(given))
	for i, attr := range given {
		names[i] = fmt.Sprintf("%q", attr.Name)
	}
	together := strings.Join(names, " and ")
	if len(names) > 2 {
		together = names[0] + ", " + names[1] + ", and " + names[2]
	}
	at := given[len(given)-1].NameRange
	if d.grammar.holds("resource", "combination_whole") {
		for _, attr := range given {
			at = hcl.RangeOver(at, attr.NameRange)
		}
	}
	d.error(at, "Invalid combination of "+together,
		"Only one of these arguments can say how many there are.")
}

// enabledBy returns the lifecycle argument "enabled" of a resource or module; nil without one.
func (b *block) enabledBy() *hcl.Attribute {
	for _, lifecycle := range b.of("lifecycle") {
		return lifecycle.attrs["enabled"]
	}
	return nil
}

// resourceWords returns the names of the two labels in messages.
func resourceWords(block string) (typ, name string) {
	switch block {
	case "data":
		return "data source name", "data resource name"
	case "ephemeral":
		return "ephemeral resource type", "ephemeral resource name"
	}
	return block + " type name", block + " name"
}

// formerProvisioners were removed in Terraform 0.15.
var formerProvisioners = []string{"chef", "habitat", "puppet", "salt-masterless"}

// checkProvisioners checks the provisioners of a block. A connection for destroy provisioners can
// refer only to the resource itself.
func (d *document) checkProvisioners(b *block) {
	connections := b.of("connection")
	for _, provisioner := range b.of("provisioner") {
		if atDestroy := d.checkProvisioner(provisioner); atDestroy && len(connections) > 0 {
			d.onlySelf(connections[0].Body)
		}
	}
}

// checkProvisioner checks a provisioner, and reports whether it runs when its resource is
// destroyed.
func (d *document) checkProvisioner(b *block) (atDestroy bool) {
	if typ := b.Labels[0]; slices.Contains(formerProvisioners, typ) {
		d.error(b.LabelRanges[0], fmt.Sprintf("The %q provisioner has been removed", typ),
			"No version since Terraform 0.15 has it.")
		return false
	}
	atDestroy = d.keyword(b.attrs["when"], "create", "destroy") == "destroy"
	d.keyword(b.attrs["on_failure"], "continue", "fail")
	if !atDestroy {
		return false
	}
	d.onlySelf(b.rest)
	for _, inner := range b.blocks {
		if inner.Type == "connection" || inner.Type == "_" {
			d.onlySelf(inner.Body)
		}
	}
	return true
}

// onlySelf reports references to anything but the resource itself.
func (d *document) onlySelf(body hcl.Body) {
	attrs, _ := body.JustAttributes()
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		expr := attrs[name].Expr
		for _, t := range static.References(expr) {
			root, step := t.RootName(), static.StepName(t, 1)
			if root == "self" || root == "path" || root == "terraform" || len(t) == 2 && (root == "count" && step == "index" || root == "each" && step == "key") {
				continue
			}
			d.error(expr.Range(), "Invalid reference from destroy provisioner",
				"When the resource is destroyed, other objects may be gone already. Refer to self, count.index and each.key only.")
		}
	}
}
