package load

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// formerProvisioners are those that there were before Terraform 0.15.
var formerProvisioners = []string{"chef", "habitat", "puppet", "salt-masterless"}

// checkProvisioners looks at the provisioners of a block. What connects to a
// resource of which only its own attributes are left may refer to nothing else.
func (d *document) checkProvisioners(b *block) {
	connections := b.of("connection")
	for _, provisioner := range b.of("provisioner") {
		if atDestroy := d.checkProvisioner(provisioner); atDestroy && len(connections) > 0 {
			d.onlySelf(connections[0].Body)
		}
	}
}

// checkProvisioner reports whether a provisioner runs when its resource is
// destroyed.
func (d *document) checkProvisioner(b *block) (atDestroy bool) {
	if typ := b.Labels[0]; slices.Contains(formerProvisioners, typ) {
		d.error(b.LabelRanges[0], fmt.Sprintf("The %q provisioner has been removed", typ),
			"There is none of that type since Terraform 0.15.")
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

// keyword returns one of two words, which may be in quotes as it was once.
func (d *document) keyword(attr *hcl.Attribute, words ...string) string {
	if attr == nil {
		return ""
	}
	word := hcl.ExprAsKeyword(attr.Expr)
	if old, ok := quoted(attr.Expr); ok {
		word = old
		d.warn(attr.Expr.Range(), "Quoted keywords are deprecated", "The word is written without quotes: %s", old)
	} else if text, ok := static.Literal(attr.Expr); ok && word == "" {
		word = text // JSON
	}
	if !slices.Contains(words, word) && !d.leftToPlan(attr.Expr.Range(), false) {
		d.error(attr.Expr.Range(), fmt.Sprintf("Invalid %q keyword", attr.Name),
			"The argument %q is one of the words %s and %s, without quotes.", attr.Name, words[0], words[1])
		return ""
	}
	return word
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
				"When the resource is destroyed, what else there was may be gone. Refer to self, count.index and each.key only.")
		}
	}
}
