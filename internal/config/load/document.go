package load

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// document has the declarations of one file, in order, before they are combined with those of the
// other files.
type document struct {
	product  dialect.Dialect
	grammar  *grammar
	override bool // declarations change those of other files

	declared  []declaration
	versions  []RequiredVersion // nil without an argument; empty if no argument applies
	required  []requiredBlock
	backends  []Backend
	imports   []*importTarget
	runs      []TestRun      // of a test file
	encrypted *encryption    // from encryption blocks; nil without any
	assigned  hcl.Attributes // arguments of its variables block
	mocks     []mockData     // of its mock providers
	left      []hcl.Range    // syntax that only a newer version can know
	scope     *static.Scope  // for expressions of encryption blocks; nil if nothing is known

	found reporter
}

// report adds problems.
func (d *document) report(diags ...*hcl.Diagnostic) { d.found.report(diags...) }

func (d *document) error(at hcl.Range, summary, format string, args ...any) {
	d.found.error(at, summary, format, args...)
}

func (d *document) warn(at hcl.Range, summary, format string, args ...any) {
	d.found.warn(at, summary, format, args...)
}

// declare records a declaration, for duplicates and overrides. A nil item has no other use.
func (d *document) declare(rng hcl.Range, k key, item any) {
	d.declared = append(d.declared, declaration{k, rng, item})
}

// block is a block with the arguments and blocks that the table allows.
type block struct {
	*hcl.Block
	attrs  hcl.Attributes
	blocks []*block // in their order
	rest   hcl.Body // the part of the block that a provider or module decides about
	broken bool     // it lacks something, or has something unknown, which was reported
}

// of returns the inner blocks of a type.
func (b *block) of(typ string) (all []*block) {
	for _, inner := range b.blocks {
		if inner.Type == typ {
			all = append(all, inner)
		}
	}
	return all
}

// deciding are the types of the blocks that can change which packages are installed.
var deciding = []string{
	"terraform", "required_providers", "module", "provider_meta", "encryption", "key_provider", "method",
	"state", "plan", "remote_state_data_sources", "default", "remote_state_data_source", "fallback",
}

// leave removes problems with unknown names, which a newer version may know. If they can decide what is installed, it
// adds a warning.
func (d *document) leave(in string, diags hcl.Diagnostics) hcl.Diagnostics {
	if !d.grammar.newer {
		return diags
	}
	block, _, _ := strings.Cut(in, ".")
	return slices.DeleteFunc(slices.Clone(diags), func(diag *hcl.Diagnostic) bool {
		isNew := IsUnknown(diag)
		if isNew {
			d.leftToPlan(*diag.Subject, slices.Contains(deciding, block))
		}
		return isNew
	})
}

// leftToPlan records syntax that only a newer version than the table's can know, and reports whether the product may
// be newer.
func (d *document) leftToPlan(at hcl.Range, decides bool) bool {
	switch {
	case !d.grammar.newer:
	case decides:
		d.report(Newer(d.product.Product, at))
	default:
		d.left = append(d.left, at)
	}
	return d.grammar.newer
}

// checkName reports a label that is no identifier, and returns whether it is one.
func (d *document) checkName(what, name string, at hcl.Range) bool {
	valid := hclsyntax.ValidIdentifier(name)
	if !valid {
		d.error(at, "Invalid "+what,
			"%q can't be used as a name: a letter or underscore has to come first, then letters, digits, underscores and dashes.", name)
	}
	return valid
}

// checkConstant reports what is wrong with an argument that must be constant. A value that takes too long is left to plan.
func (d *document) checkConstant(attr *hcl.Attribute) {
	if !static.Cheap(attr.Expr) {
		return
	}
	if _, diags := static.Evaluate(attr.Expr); !static.Spent(diags) {
		d.report(diags...)
	}
}

// quoted returns the content of a string literal in the native syntax, without interpolation.
func quoted(expr hcl.Expression) (string, bool) {
	template, ok := expr.(*hclsyntax.TemplateExpr)
	if !ok || !template.IsStringLiteral() {
		return "", false
	}
	val, diags := template.Value(nil)
	if diags.HasErrors() {
		return "", false
	}
	return static.Text(val)
}

// duplicates are the summaries of problems with duplicate declarations. For other blocks the summary has the block's
// type or name.
var duplicates = map[string]string{
	"variable":          "Duplicate variable declaration",
	"output":            "Duplicate output definition",
	"local":             "Duplicate local value definition",
	"module":            "Duplicate module call",
	"provider":          "Duplicate provider configuration",
	"provider_meta":     "Duplicate provider_meta block",
	"run":               `Duplicate "run" block names`,
	"variables":         `Multiple "variables" blocks`,
	"test":              `Multiple "test" blocks`,
	"override_resource": "Duplicate override_resource block",
	"override_data":     "Duplicate override_data block",
	"override_module":   "Duplicate override_module block",
	"test variable":     `Duplicate "variable" block names`,
	"test provider":     "Duplicate provider block",
}

// duplicate returns the problem of a declaration that repeats the one at first.
func duplicate(again declaration, first hcl.Range) *hcl.Diagnostic {
	other := fmt.Sprintf("Duplicate %s %q configuration", again.block, cmp.Or(again.typ, again.name))
	return diagnostic.Error(again.rng, cmp.Or(duplicates[again.block], other), "The %s is declared already at %s.", again.key, first)
}

// bases are the objects of overrides, in the summaries of problems without such an object. Terraform calls actions resources.
var bases = map[string]string{
	"variable":  "base variable declaration to override",
	"output":    "base output definition to override",
	"local":     "base local value definition to override",
	"module":    "module call to override",
	"resource":  "resource to override",
	"action":    "resource to override",
	"data":      "data resource to override",
	"ephemeral": "ephemeral resource to override",
	"provider":  "base provider configuration for override",
}

// missing returns the problem of an override whose object doesn't exist, or nil if that is allowed:
// the override has no effect then, or declares a new object.
func missing(changed declaration) *hcl.Diagnostic {
	base := bases[changed.block]
	if base == "" || changed.block == "provider" && changed.name == "" {
		return nil
	}
	return diagnostic.Error(changed.rng, "Missing "+base, "No primary file has the %s, so there is nothing to override.", changed.key)
}

// notInOverride reports a block that an override file can't have.
func (d *document) notInOverride(block *hcl.Block, summary string) {
	if d.override {
		d.error(block.DefRange, summary, "Blocks of type %q can't stand in an override file.", block.Type)
	}
}

// checkArgument reports an argument of another type.
func (d *document) checkArgument(attr *hcl.Attribute, typ cty.Type) {
	val, diags := static.Evaluate(attr.Expr)
	d.report(diags...)
	if diags.HasErrors() {
		return
	}
	if _, err := convert.Convert(val, typ); err != nil || val.IsNull() {
		d.error(attr.Expr.StartRange(), "Unsuitable value type", "The value has to be a %s.", typ.FriendlyName())
	}
}

// checkLocalName reports an invalid local name of a provider, and returns whether it is valid.
func (d *document) checkLocalName(name string, at hcl.Range) bool {
	normal, err := getproviders.NormalizePart(name)
	switch {
	case err != nil:
		d.error(at, "Invalid provider local name", "%q can't be the local name of a provider: %v.", name, err)
	case normal != name:
		d.error(at, "Invalid provider local name", "Write %q in its normalized form, %q.", name, normal)
	}
	return err == nil && normal == name
}

// versionConstraint reads an argument that is a version constraint. It returns nil if the argument
// is null or invalid.
func (d *document) versionConstraint(attr *hcl.Attribute) *RequiredVersion {
	val, diags := static.Evaluate(attr.Expr)
	d.report(diags...)
	if diags.HasErrors() || val.IsNull() {
		return nil
	}
	given, ok := static.Text(val)
	if !ok {
		d.error(attr.Expr.Range(), "Invalid version constraint", "The value of %s has to be a string.", attr.Name)
		return nil
	}
	return d.parseConstraint(given, attr.Range, attr.Expr.Range())
}

// parseConstraint checks a constraint with the lenient one of two parsers. [Module.Requirements]
// applies the strict one.
func (d *document) parseConstraint(given string, attr, value hcl.Range) *RequiredVersion {
	if _, err := version.NewConstraint(given); err != nil {
		d.error(value, "Invalid version constraint",
			"%q is not a version constraint. Examples of correct ones are \"1.2.3\", \"~> 1.2\" and \">= 1.2, < 3.0\".", given)
		return nil
	}
	return &RequiredVersion{Text: given, Range: attr}
}

// elements returns the elements of an argument that is a list; nil without an argument.
func (d *document) elements(attr *hcl.Attribute) []hcl.Expression {
	if attr == nil {
		return nil
	}
	list, diags := hcl.ExprList(attr.Expr)
	d.report(diags...)
	return list
}
