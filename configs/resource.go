package configs

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// resource decodes what has a type of a provider: resource, data, ephemeral
// and action blocks.
func (d *document) resource(block *hcl.Block, content *hcl.BodyContent) {
	typ, name := block.Labels[0], block.Labels[1]
	what := resourceWords(block.Type)
	validType := d.checkName(what.typ, typ, block.LabelRanges[0])
	d.checkName(what.name, name, block.LabelRanges[1])
	d.checkRepetition(content)
	d.dependsOn(content.Attributes["depends_on"])
	d.checkReservedBlocks(content, block.Type, "locals")
	d.checkOnce(content, "lifecycle", "Duplicate lifecycle block")
	d.checkOnce(content, "connection", "Duplicate connection block")
	d.checkOnce(content, "_", "Duplicate escaping block")
	u := &user{
		key:      d.declare(block.DefRange, block.Type, typ, name),
		provider: d.providerRef(content.Attributes["provider"]),
		needed:   block.DefRange,
	}
	if validType {
		d.users = append(d.users, u)
	}
}

// check decodes a check block, which may have one data block of its own.
func (d *document) check(block *hcl.Block, content *hcl.BodyContent) {
	d.notInOverride(block, "Can't override check blocks")
	d.checkName("check block name", block.Labels[0], block.LabelRanges[0])
	d.declare(block.DefRange, "check", "", block.Labels[0])
	asserts := content.Blocks.OfType("assert")
	if len(asserts) == 0 {
		d.report(Problem(block.DefRange, "Zero assert blocks", "A check block needs an assert block, or it checks nothing."))
	}
	d.checkConditions(asserts)
	d.checkOnce(content, "data", "Multiple data resource blocks")
	for _, data := range content.Blocks.OfType("data") {
		d.resource(data, d.content(data.Body, d.rules["data"]))
	}
}

// checkRepetition reports count beside for_each.
func (d *document) checkRepetition(content *hcl.BodyContent) {
	_, count := content.Attributes["count"]
	if forEach, ok := content.Attributes["for_each"]; ok && count {
		d.report(Problem(forEach.NameRange, `Invalid combination of "count" and "for_each"`,
			"Only one of the two arguments can say how many there are."))
	}
}

// localName is the local name of the provider, explicit or the type's part
// before the first underscore.
func (u *user) localName() string {
	if u.provider != nil {
		return u.provider.name
	}
	name, _, _ := strings.Cut(u.key.typ, "_")
	return name
}

// resourceWords are what the two labels are called in messages.
func resourceWords(block string) (words struct{ typ, name string }) {
	switch block {
	case "resource":
		words.typ, words.name = "resource type name", "resource name"
	case "data":
		words.typ, words.name = "data source name", "data resource name"
	case "ephemeral":
		words.typ, words.name = "ephemeral resource type", "ephemeral resource name"
	default:
		words.typ, words.name = block+" type name", block+" name"
	}
	return words
}
