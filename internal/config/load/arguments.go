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

// read reads a block with its inner blocks, by the rows of the table for in.
func (d *document) read(given *hcl.Block, in string) *block {
	b, f := &block{Block: given}, d.grammar.form(in)
	if len(f.schema.Attributes)+len(f.schema.Blocks) == 0 && !f.open {
		return b
	}
	schema := f.schema
	if d.override {
		schema = optional(schema)
	}
	content, diags := (*hcl.BodyContent)(nil), hcl.Diagnostics(nil)
	if f.open {
		content, b.rest, diags = b.Body.PartialContent(schema)
	} else {
		content, diags = b.Body.Content(schema)
	}
	d.report(d.leave(in, diags)...)
	b.attrs, b.broken = content.Attributes, diags.HasErrors()
	for _, argument := range schema.Attributes {
		attr, r := b.attrs[argument.Name], f.rows[argument.Name]
		switch {
		case attr == nil:
		case r.kind == "refused":
			d.error(attr.NameRange, refusal(in, "argument", d.grammar), "The argument %q has no meaning here; the name is reserved.", r.name)
		default:
			d.checkKind(attr, r)
		}
	}
	first := map[string]hcl.Range{}
	for _, inner := range content.Blocks {
		r := f.rows[inner.Type]
		if at, ok := first[r.name]; !ok {
			first[r.name] = inner.DefRange
		} else if r.once {
			d.error(inner.DefRange, again(in, r.name), "There is one already at %s.", at)
		}
		b.blocks = append(b.blocks, d.readInner(inner, in, r))
	}
	return b
}

// readInner reads an inner block.
func (d *document) readInner(given *hcl.Block, in string, r row) *block {
	switch {
	case d.override && in == "check": // the check block as a whole is a problem
	case r.kind == "block":
		return d.read(given, r.name)
	case r.kind == "form":
		return d.read(given, in+"."+r.name)
	case r.kind == "condition":
		return d.readCondition(given)
	case r.kind == "refused-block":
		d.error(given.TypeRange, refusal(in, "block", d.grammar), "Blocks of type %q have no meaning here; the name is reserved.", r.name)
	}
	return &block{Block: given}
}

// readCondition reads a block with a condition.
func (d *document) readCondition(given *hcl.Block) *block {
	if d.override {
		d.notInOverride(given, fmt.Sprintf("Can't override %s blocks", given.Type))
		return &block{Block: given}
	}
	b := d.read(given, "condition")
	if attr, ok := b.attrs["condition"]; ok && len(static.References(attr.Expr)) == 0 {
		d.error(attr.Expr.Range(), "Invalid "+b.Type+" expression", "The condition refers to nothing, so its result is always the same.")
	}
	return b
}

// checkKind reports a value that an argument of the row's kind can't have.
func (d *document) checkKind(attr *hcl.Attribute, r row) {
	switch r.kind {
	case "addresses":
		for _, expr := range d.elements(attr) {
			d.traversal(expr)
		}
	case "alpha":
		d.checkCleanup(attr)
	case "attributes":
		d.checkAttributes(attr)
	case "bool":
		d.checkArgument(attr, cty.Bool)
	case "constant":
		d.checkConstant(attr)
	case "flag":
		d.checkFlag(attr)
	case "moment":
		d.checkDuring(attr)
	case "string":
		d.checkArgument(attr, cty.String)
	case "triggers":
		d.checkTriggers(attr)
	case "type":
		d.checkType(attr.Expr)
	case "word":
		d.checkWord(attr, r.labels)
	}
}

// checkFlag reports a value that isn't the literal true or false.
func (d *document) checkFlag(attr *hcl.Attribute) {
	if _, native := attr.Expr.(hclsyntax.Expression); native && len(static.References(attr.Expr)) > 0 {
		_, diags := static.Evaluate(attr.Expr)
		d.report(diags...)
		d.error(attr.Expr.StartRange(), "Unsuitable value type", "The value has to be true or false.")
		return
	}
	d.checkArgument(attr, cty.Bool)
}

// checkAttributes reads ignore_changes: "all", or a list of attributes.
func (d *document) checkAttributes(attr *hcl.Attribute) {
	if hcl.ExprAsKeyword(attr.Expr) == "all" {
		return
	}
	list := d.elements(attr)
	var wildcard *hcl.Range
	for _, expr := range list {
		if old, ok := quoted(expr); ok && old == "*" {
			d.error(attr.Expr.Range(), "Invalid ignore_changes wildcard", "All attributes are ignored by the keyword all, without brackets and quotes.")
			at := expr.Range()
			wildcard = &at
			continue
		}
		if traversal, broken := d.unquoted(expr); len(traversal) > 0 || broken {
			continue
		}
		_, diags := hcl.RelTraversalForExpr(expr)
		d.report(diags...)
	}
	if wildcard != nil && len(list) > 1 {
		d.error(*wildcard, "Invalid ignore_changes ruleset", "What is beside the wildcard has no effect.")
	}
}

// unquoted reads a reference in quotes, the old syntax. It returns nil for other expressions;
// broken says that it reported a syntax error.
func (d *document) unquoted(expr hcl.Expression) (traversal hcl.Traversal, broken bool) {
	old, ok := quoted(expr)
	if !ok {
		return nil, false
	}
	inside := expr.Range().Start
	inside.Column, inside.Byte = inside.Column+1, inside.Byte+1
	traversal, diags := hclsyntax.ParseTraversalAbs([]byte(old), expr.Range().Filename, inside)
	d.report(diags...)
	d.warn(expr.Range(), "Quoted references are deprecated", "References are written without quotes: %s", old)
	return traversal, diags.HasErrors()
}

// traversal reads a reference, with or without quotes. It reports other expressions, and returns an
// empty one.
func (d *document) traversal(expr hcl.Expression) hcl.Traversal {
	if old, _ := d.unquoted(expr); len(old) > 0 {
		return old
	}
	traversal, diags := hcl.AbsTraversalForExpr(expr)
	d.report(diags...)
	return traversal
}

// checkTriggers checks replace_triggered_by: a list of resources, their instances and attributes.
func (d *document) checkTriggers(attr *hcl.Attribute) {
	for _, given := range d.elements(attr) {
		expr, ok := static.Native(given)
		if !ok {
			d.error(given.Range(), "Invalid reference expression", "This has to be a reference.")
			continue
		}
		resources := 0
		for _, t := range expr.Variables() {
			switch root, name := t.RootName(), static.StepName(t, 1); {
			case slices.Contains([]string{"template", "lazy", "arg"}, root):
				d.error(given.Range(), "Reserved symbol name",
					"The word %q is reserved. A resource of that type is written with \"resource.\" in front.", root)
				resources++ // one problem is enough
			case d.product.Understands("type_names") && static.IsTypeName(t):
			case root != "self" && name == "":
				d.error(given.Range(), "Invalid reference", "This refers to nothing: a dot and a name have to follow %q.", root)
				resources++
			case d.hasTwoNames(root) && static.StepName(t, 2) == "":
				d.error(given.Range(), "Invalid reference", "Two names have to follow %q: a type and a name.", root)
				resources++
			case root == "count" && name != "index", root == "each" && name != "key":
				d.error(given.Range(), "Invalid "+root+" reference in replace_triggered_by expression",
					"It can refer to resources of this module, and to count.index and each.key in their keys.")
			case root == "count", root == "each":
			case d.namesResource(root):
				resources++
			default:
				d.error(given.Range(), "Invalid reference in replace_triggered_by expression",
					"It can refer to resources of this module, and to count.index and each.key in their keys.")
			}
		}
		if resources == 0 {
			d.error(given.Range(), "Invalid replace_triggered_by expression", "It has to refer to a resource.")
		} else if resources > 1 {
			d.error(given.Range(), "Invalid replace_triggered_by expression", "It can refer to one resource only.")
		}
	}
}

// hasTwoNames reports whether a type and a name follow a word in a reference.
func (d *document) hasTwoNames(root string) bool {
	return slices.Contains([]string{"data", "ephemeral", "resource"}, root) ||
		d.product.Understands("actions") && slices.Contains([]string{"action", "list"}, root)
}

// namesResource reports whether a reference in replace_triggered_by that begins with a word is a resource.
// OpenTofu has no actions: there "action" is a resource type.
func (d *document) namesResource(root string) bool {
	switch {
	case root == "data" || root == "ephemeral":
		return true
	case !d.product.Understands("actions") && (root == "action" || root == "tofu"):
		return root == "action"
	}
	return !slices.Contains(reservedRoots(), root)
}

// checkTrigger checks an action_trigger block.
func (d *document) checkTrigger(b *block) {
	actions, known := 0, d.grammar.names("event")
	var events []string
	for _, expr := range d.elements(b.attrs["events"]) {
		word := hcl.ExprAsKeyword(expr)
		if !slices.Contains(known, word) && !d.leftToPlan(expr.Range(), false) {
			d.error(expr.Range(), fmt.Sprintf("Invalid \"event\" value %s", word),
				"An event is one of the words %s, without quotes.", strings.Join(known, ", "))
			continue
		}
		if slices.Contains(events, word) {
			d.error(expr.Range(), fmt.Sprintf("Duplicate %q event", word), "The event is named already.")
			continue
		}
		events = append(events, word)
	}
	if len(events) == 0 {
		d.error(b.DefRange, "No events specified", "The block needs the argument \"events\", which says when actions run.")
	}
	at := b.DefRange
	for _, given := range d.elements(b.attrs["actions"]) {
		expr, ok := static.Native(given)
		steps, isAddress := hcl.Traversal(nil), false
		if ok {
			steps, isAddress = flatten(expr)
		}
		if !isAddress || static.StepName(steps, 0) != "action" || len(steps) < 3 {
			at = given.Range()
			d.error(at, "Invalid action argument inside action_triggers", "It has to be the address of an action, such as action.aws_lambda_invoke.example.")
			continue
		}
		actions++
		if d.grammar.holds("action", "constant_keys") && slices.ContainsFunc(static.References(expr), func(t hcl.Traversal) bool {
			return !slices.Contains([]string{"action", "count", "each"}, t.RootName())
		}) {
			d.error(given.Range(), "Invalid action argument inside action_triggers", "In the key of an action, only count.index and each.key can stand.")
		}
	}
	if actions == 0 {
		d.error(at, "No actions specified", "The block needs the argument \"actions\", which says what runs.")
	}
}

// checkCleanup checks skip_cleanup, which is experimental.
func (d *document) checkCleanup(attr *hcl.Attribute) {
	if !experimental(d.product.Version) {
		d.error(attr.NameRange, "Invalid attribute",
			"The argument %q exists only in alpha releases of %s.", attr.Name, d.product.Name)
	}
	d.checkArgument(attr, cty.Bool)
}

// checkWord reports an argument that isn't one of the words.
func (d *document) checkWord(attr *hcl.Attribute, words []string) {
	if !slices.Contains(words, hcl.ExprAsKeyword(attr.Expr)) && !d.leftToPlan(attr.Expr.Range(), false) {
		d.error(attr.Expr.Range(), "Invalid \""+attr.Name+"\" keyword",
			"The argument %q is one of the words %s, without quotes.", attr.Name, strings.Join(words, " or "))
	}
}

// checkDuring checks override_during, which says whether values apply from plan or apply.
func (d *document) checkDuring(attr *hcl.Attribute) {
	if !slices.Contains([]string{"plan", "apply"}, hcl.ExprAsKeyword(attr.Expr)) && !d.leftToPlan(attr.Range, false) {
		d.error(attr.Range, "Invalid override_during value", "It is one of the words plan or apply, without quotes.")
	}
}

// keyword returns the argument if it is one of two words, also in quotes, the old syntax.
func (d *document) keyword(attr *hcl.Attribute, words ...string) string {
	if attr == nil {
		return ""
	}
	word := hcl.ExprAsKeyword(attr.Expr)
	if old, ok := quoted(attr.Expr); ok {
		word = old
		d.warn(attr.Expr.Range(), "Quoted keywords are deprecated", "The word is written without quotes: %s", old)
	}
	if !slices.Contains(words, word) && !d.leftToPlan(attr.Expr.Range(), false) {
		d.error(attr.Expr.Range(), fmt.Sprintf("Invalid %q keyword", attr.Name),
			"The argument %q is one of the words %s and %s, without quotes.", attr.Name, words[0], words[1])
		return ""
	}
	return word
}
