package load

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// moved decodes a moved block, which matters only to plan.
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
			d.error(b.DefRange, "Invalid \"moved\" address", "Ephemeral resources have no state that could be moved.")
		}
	}
	if from != nil && to != nil && (from.kind == "module") != (to.kind == "module") {
		d.error(b.DefRange, "Invalid \"moved\" addresses",
			"A module can only become a module, and a resource a resource.")
	}
}

// removed decodes a removed block. It requires no provider.
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

// checkForgotten warns of a removed block that doesn't say whether objects are destroyed, or has
// provisioners for objects that aren't.
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

// notMovable returns the words that can't begin an address in a moved block, because they have
// another meaning. In OpenTofu they are resource types there.
func notMovable() []string {
	return slices.DeleteFunc(reservedRoots(), func(word string) bool { return word == "action" })
}

// importBlock decodes an import block.
func (d *document) importBlock(b *block) {
	d.notInOverride(b.Block, "Cannot override 'import' blocks")
	if (b.attrs["id"] == nil) == (b.attrs["identity"] == nil) && d.grammar.holds("import", "identity") {
		d.error(b.DefRange, "Invalid import block", "It needs one of the arguments \"id\" and \"identity\", and not both.")
	}
	to := b.attrs["to"]
	if to == nil {
		return
	}
	target := &importTarget{
		provider: d.providerRef(b.attrs["provider"]),
		header:   b.DefRange,
		to:       to.Expr.Range(),
	}
	if !target.parse(to.Expr, d.grammar.holds("import", "any_mode")) {
		d.error(to.Range, "Invalid import address",
			"The address has to be that of a managed resource or of an instance of one, like aws_instance.example[\"a\"].")
		return
	}
	if target.inModule && target.provider != nil {
		d.error(target.provider.attr, "Invalid import provider argument",
			"The provider of a resource in another module is chosen there, and by the argument \"providers\" of the module block.")
	}
	d.imports = append(d.imports, target)
}

// resolveImports adds users for import targets without a resource block, because configuration will
// be generated for them. In OpenTofu all targets are users.
func (b *builder) resolveImports() {
	first := map[string]hcl.Range{}
	for _, target := range b.imports {
		instance := target.address + " " + target.keys
		if at, ok := first[instance]; ok && !target.computed {
			b.found.error(target.to, fmt.Sprintf("Duplicate import configuration for %q", target.address),
				"There is an import block for it already at %s.", at)
			continue
		}
		if !target.computed {
			first[instance] = target.header
		}
		resource, declared := b.users[target.resource]
		if b.grammar.holds("import", "all_require") || !declared && !target.inModule {
			b.module.users = append(b.module.users, &user{key: target.resource, provider: target.provider, needed: target.header})
		}
		if declared && !target.inModule && target.provider != nil && !target.provider.same(resource.provider) {
			b.late.error(target.provider.attr, "Invalid import provider argument",
				"The block of the resource, at %s, chooses its provider.", resource.needed)
		}
	}
}
