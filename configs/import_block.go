package configs

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// importTarget is an import block.
type importTarget struct {
	resource key    // zero if it is in another module
	address  string // without keys
	keys     string // equal for equal keys
	computed bool   // whether there are keys that aren't known yet
	provider *providerRef
	header   hcl.Range
	to       hcl.Range // the address
}

// importBlock decodes an import block.
func (d *document) importBlock(block *hcl.Block, content *hcl.BodyContent) {
	d.notInOverride(block, "Cannot override 'import' blocks")
	_, id := content.Attributes["id"]
	_, identity := content.Attributes["identity"]
	if id == identity {
		d.report(Problem(block.DefRange, "Invalid import block", "It needs one of the arguments \"id\" and \"identity\", and not both."))
	}
	to, ok := content.Attributes["to"]
	if !ok {
		return
	}
	target := &importTarget{
		provider: d.providerRef(content.Attributes["provider"]),
		header:   block.DefRange,
		to:       to.Expr.Range(),
	}
	if !target.parse(to.Expr) {
		d.report(Problem(to.Range, "Invalid import address",
			"The address has to be that of a managed resource or of an instance of one, like aws_instance.example[\"a\"]."))
		return
	}
	d.imports = append(d.imports, target)
}

// parse reads the address [module.name[key].]...[resource.]type.name[key].
func (t *importTarget) parse(expr hcl.Expression) bool {
	native, ok := embedded(expr)
	if !ok {
		return false
	}
	steps, ok := flatten(native)
	if !ok {
		return false
	}
	rest, inModule := steps, false
	for stepName(rest, 0) == "module" && stepName(rest, 1) != "" {
		rest, inModule = skipKey(rest[2:]), true
	}
	switch name := stepName(rest, 0); {
	case name == "resource": // a prefix that changes nothing
		path := steps[:len(steps)-len(rest)]
		rest = rest[1:]
		steps = slices.Concat(path, rest)
	case slices.Contains(reservedRoots(), name):
		return false
	}
	typ, name := stepName(rest, 0), stepName(rest, 1)
	if typ == "" || name == "" || len(skipKey(rest[2:])) > 0 {
		return false
	}
	if !inModule {
		t.resource = key{"resource", typ, name}
	}
	var known bool
	t.address = names(steps)
	t.keys, known = constantKeys(steps)
	t.computed = !known
	return true
}

// resolveImports makes users of the import targets that have no resource block
// (yet): a configuration is going to be generated for them.
func (b *builder) resolveImports() {
	first := map[string]hcl.Range{}
	for _, target := range b.imports {
		instance := target.address + " " + target.keys
		if at, ok := first[instance]; ok && !target.computed {
			b.report(Problem(target.to, fmt.Sprintf("Duplicate import configuration for %q", target.address),
				"There is an import block for it already at %s.", at))
			continue
		}
		if !target.computed {
			first[instance] = target.header
		}
		resource, declared := b.users[target.resource]
		switch {
		case target.resource == key{}:
		case !declared:
			b.module.users = append(b.module.users, &user{key: target.resource, provider: target.provider, needed: target.header})
		case target.provider != nil && !target.provider.same(resource.provider):
			b.late = append(b.late, Problem(target.provider.attr, "Invalid import provider argument",
				"The resource has a block of its own, at %s; which provider it belongs to is written there.", resource.needed))
		}
	}
}

// same reports whether both mean one configuration; o may be nil.
func (r *providerRef) same(o *providerRef) bool {
	return o != nil && r.name == o.name && r.alias == o.alias
}
