package load

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/static"
)

// form is what may stand in a block of the language's own: its arguments and
// blocks, and what they must be. Only form.check reads it.
type form struct {
	// arguments are words "name" or "name:kind"; kinds are those of argumentKinds.
	// An exclamation mark behind the name says that the argument is required.
	arguments string
	// blocks are words "type" or "type:form"; forms are those of innerForms.
	blocks string
	// refused are the names of arguments and blocks that are known, and have no
	// meaning here, with the summaries of the problems.
	refused                        string
	refusedArgument, refusedBlocks string
	// more looks at what no word can say; nil: there is none.
	more func(*document, *hcl.Block, *hcl.BodyContent)
}

// argumentKinds are what an argument can be.
var argumentKinds = map[string]func(*document, *hcl.Attribute){
	"flag":       (*document).checkFlag,
	"attributes": (*document).checkAttributes,
	"triggers":   (*document).checkTriggers,
	"events":     nil, // see checkTrigger
	"actions":    nil,
	"keywords":   nil, // see checkProvisioner
}

// innerForms are the forms of blocks in blocks. A lifecycle block has another one in
// each kind of block.
func innerForms(product getproviders.Product) map[string]form {
	if product.Understands("enabled") {
		return openTofuForms()
	}
	managed := form{
		arguments: "create_before_destroy:flag prevent_destroy:flag ignore_changes:attributes replace_triggered_by:triggers",
		blocks:    "precondition:condition postcondition:condition action_trigger:trigger",
	}
	others := func(kind string) form {
		return form{
			arguments:       "create_before_destroy prevent_destroy ignore_changes replace_triggered_by",
			blocks:          "precondition:condition postcondition:condition action_trigger",
			refused:         "create_before_destroy prevent_destroy ignore_changes replace_triggered_by action_trigger",
			refusedArgument: "Invalid " + kind + " resource lifecycle argument",
			refusedBlocks:   "Invalid " + kind + " resource lifecycle nested block",
		}
	}
	return map[string]form{
		"lifecycle of resource":  managed,
		"lifecycle of data":      others("data"),
		"lifecycle of ephemeral": others("ephemeral"),
		"lifecycle of removed":   {arguments: "destroy:flag"},
		"condition":              {arguments: "condition! error_message!"},
		"trigger":                {arguments: "events!:events actions!:actions condition", more: (*document).checkTrigger},
	}
}

// openTofuForms are those of OpenTofu, which has no actions, and where a lifecycle
// block says whether there is the resource or the module at all. What decides about destroying is computed by a plan.
func openTofuForms() map[string]form {
	const managed = "create_before_destroy prevent_destroy destroy ignore_changes replace_triggered_by"
	others := func(refused string) form {
		return form{
			arguments:       managed + " enabled",
			blocks:          "precondition:condition postcondition:condition",
			refused:         managed,
			refusedArgument: refused,
		}
	}
	return map[string]form{
		"lifecycle of resource": {
			arguments: "create_before_destroy:flag prevent_destroy destroy enabled ignore_changes:attributes replace_triggered_by:triggers",
			blocks:    "precondition:condition postcondition:condition",
		},
		"lifecycle of data":      others("Invalid data resource lifecycle argument"),
		"lifecycle of ephemeral": others("Invalid lifecycle configuration for ephemeral resource"),
		"lifecycle of module":    {arguments: "enabled"},
		"lifecycle of removed":   {arguments: "destroy:flag"},
		"condition":              {arguments: "condition! error_message!"},
	}
}

// checkForm reads a block as its form says.
func (d *document) checkForm(block *hcl.Block, name string) {
	forms := innerForms(d.product)
	f, ok := forms[name]
	if !ok {
		return
	}
	arguments, kinds := splitKinds(f.arguments)
	blocks, inner := splitKinds(f.blocks)
	content := d.content(block.Body, rule{body: body(arguments, blocks)})
	for argument, kind := range kinds {
		if check := argumentKinds[kind]; check != nil && content.Attributes[argument] != nil {
			check(d, content.Attributes[argument])
		}
	}
	for _, word := range strings.Fields(f.refused) {
		if attr := content.Attributes[word]; attr != nil {
			d.error(attr.NameRange, f.refusedArgument, "The argument %q has no meaning here.", word)
		}
		for _, b := range content.Blocks.OfType(word) {
			d.error(b.TypeRange, f.refusedBlocks, "A block %q has no meaning here.", word)
		}
	}
	var conditions hcl.Blocks
	for _, b := range content.Blocks {
		if inner[b.Type] == "condition" {
			conditions = append(conditions, b)
		} else if inner[b.Type] != "" {
			d.checkForm(b, inner[b.Type])
		}
	}
	d.checkConditions(conditions)
	if f.more != nil {
		f.more(d, block, content)
	}
}

// splitKinds takes what stands behind the colons out of words.
func splitKinds(words string) (names string, kinds map[string]string) {
	kinds = map[string]string{}
	for _, word := range strings.Fields(words) {
		name, kind, _ := strings.Cut(word, ":")
		names += " " + name
		kinds[strings.TrimSuffix(name, "!")] = kind
	}
	return names, kinds
}

// checkFlag reports what isn't true or false as it stands.
func (d *document) checkFlag(attr *hcl.Attribute) {
	if attr == nil {
		return
	}
	node, native := attr.Expr.(hclsyntax.Expression)
	if native && len(static.References(attr.Expr)) > 0 {
		_, diags := static.Evaluate(node)
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
		if traversal, broken := d.unquotedRelative(expr); len(traversal) > 0 || broken {
			continue
		}
		_, diags := hcl.RelTraversalForExpr(expr)
		d.report(diags...)
	}
	if wildcard != nil && len(list) > 1 {
		d.error(*wildcard, "Invalid ignore_changes ruleset", "What stands beside the wildcard has no meaning.")
	}
}

// unquotedRelative is unquoted for the path of an attribute.
func (d *document) unquotedRelative(expr hcl.Expression) (hcl.Traversal, bool) {
	if _, isNative := expr.(hclsyntax.Expression); !isNative {
		return nil, false
	}
	return d.unquoted(expr)
}

// checkTriggers reads replace_triggered_by: a list of resources, their instances and
// attributes.
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
			case !d.product.StaticModules && static.IsTypeName(t):
			case root != "self" && name == "":
				d.error(given.Range(), "Invalid reference", "This refers to nothing: a name has to follow %q, behind a dot.", root)
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

// hasTwoNames reports whether a word before a reference has a type and a name behind it.
func (d *document) hasTwoNames(root string) bool {
	return slices.Contains([]string{"data", "ephemeral", "resource"}, root) ||
		!d.product.StaticModules && slices.Contains([]string{"action", "list"}, root)
}

// namesResource reports whether what begins with a word is a resource, in replace_triggered_by. OpenTofu has no
// actions, so that those are resources of a type of that name.
func (d *document) namesResource(root string) bool {
	switch {
	case root == "data" || root == "ephemeral":
		return true
	case d.product.StaticModules && (root == "action" || root == "tofu"):
		return root == "action"
	}
	return !slices.Contains(reservedRoots(), root)
}

// triggerEvents are the moments at which actions can run.
var triggerEvents = []string{"before_create", "after_create", "before_update", "after_update"}

// checkTrigger looks at an action_trigger block.
func (d *document) checkTrigger(block *hcl.Block, content *hcl.BodyContent) {
	actions := 0
	var events []string
	for _, expr := range d.elements(content.Attributes["events"]) {
		word := hcl.ExprAsKeyword(expr)
		if !slices.Contains(triggerEvents, word) {
			d.error(expr.Range(), fmt.Sprintf("Invalid \"event\" value %s", word),
				"An event is one of the words %s, without quotes.", strings.Join(triggerEvents, ", "))
			continue
		}
		if slices.Contains(events, word) {
			d.error(expr.Range(), fmt.Sprintf("Duplicate %q event", word), "The event is named already.")
			continue
		}
		events = append(events, word)
	}
	if len(events) == 0 {
		d.error(block.DefRange, "No events specified", "The block says when actions run with the argument \"events\".")
	}
	at := block.DefRange
	for _, given := range d.elements(content.Attributes["actions"]) {
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
	}
	if actions == 0 {
		d.error(at, "No actions specified", "The block says what runs with the argument \"actions\".")
	}
}
