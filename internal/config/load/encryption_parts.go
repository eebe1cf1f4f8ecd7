package load

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// content reads the arguments of a part, of all its blocks together; false if they are wrong.
func (d *document) encryptionContent(part *encryptionPart, in string) (hcl.Attributes, bool) {
	schema := d.grammar.form(in).schema
	all := hcl.Attributes{}
	valid := true
	for i, b := range part.bodies {
		wanted := optional(schema)
		if len(part.bodies) == 1 && i == 0 {
			wanted = schema
		}
		content, diags := b.Content(wanted)
		diags = d.leave(in, diags)
		d.report(diags...)
		valid = valid && !diags.HasErrors()
		maps.Copy(all, content.Attributes)
	}
	return all, valid
}

// knownPart reports whether there are methods, or key providers, of a part's type.
func (d *document) knownPart(part *encryptionPart, in, summary string) bool {
	known := d.grammar.holds(in, part.typ)
	switch {
	case known, d.leftToPlan(part.header, true):
	default:
		what := strings.ReplaceAll(in, "_", " ")
		d.error(part.header, summary, "There is no %s %q. Those that there are: %s.", what, part.typ, strings.Join(d.grammar.names(in), ", "))
	}
	return known
}

// checkMethod looks at a method, and at the key providers that it refers to.
func (d *document) checkMethod(e *encryption, method *encryptionPart) {
	if !d.knownPart(method, "method", "Unknown encryption method type") || method.typ == "unencrypted" {
		return
	}
	attrs, ok := d.encryptionContent(method, "method."+method.typ)
	if !ok || !d.encryptionValues(e, "method", method, attrs) {
		return
	}
	if aad := attrs["aad"]; aad != nil && method.typ == "aes_gcm" {
		if val, ok := d.encryptionValue(aad); ok {
			if _, err := convert.Convert(val, cty.List(cty.Number)); err != nil {
				d.error(aad.Expr.Range(), "Unsuitable value type", "The value of \"aad\" has to be a list of numbers.")
			}
		}
	}
	d.checkKeys(e, attrs, nil)
}

// encryptionValues reports what the arguments of a part of an encryption block refer to without a value before
// anything is installed; false if there is any.
func (d *document) encryptionValues(e *encryption, kind string, part *encryptionPart, attrs hcl.Attributes) bool {
	var refs []hcl.Traversal
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		refs = append(refs, others(static.References(attrs[name].Expr))...)
	}
	if d.scope == nil || len(refs) == 0 {
		return true
	}
	_, problems := d.scope.ContextFor("encryption."+kind+"."+part.name, e.header, refs)
	d.report(problems...)
	return len(problems) == 0
}

// others are the references to anything but key providers.
func others(refs []hcl.Traversal) []hcl.Traversal {
	return slices.DeleteFunc(slices.Clone(refs), func(t hcl.Traversal) bool { return t.RootName() == "key_provider" })
}

// checkKeys looks at the key providers that arguments refer to; above are those that have led here.
func (d *document) checkKeys(e *encryption, attrs hcl.Attributes, above []string) {
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		for _, reference := range keyReferences(attrs[name].Expr) {
			key := e.keys[reference.name]
			switch {
			case !reference.valid:
				d.error(reference.at, "Invalid Key Provider expression format", "A key provider is named as key_provider.pbkdf2.example.")
			case key == nil:
				d.error(reference.at, "Reference to undeclared key provider", "There is no block for the key provider %s in the encryption block.", reference.name)
			case slices.Contains(above, reference.name):
				d.error(reference.at, "Circular reference detected", "Key providers refer to one another: %s.", strings.Join(append(above, reference.name), " -> "))
			default:
				d.checkKey(e, key, append(slices.Clip(above), reference.name))
			}
		}
	}
}

// keyReference is what stands where a key provider is named.
type keyReference struct {
	name  string
	at    hcl.Range
	valid bool
}

// keyReferences are those in an expression; in JSON, where a string can be one as a whole.
func keyReferences(expr hcl.Expression) (all []keyReference) {
	if text, ok := static.Literal(expr); ok && strings.HasPrefix(text, "key_provider.") {
		name, at, valid := encryptionName(expr, "key_provider")
		return []keyReference{{name, at, valid}}
	}
	for _, steps := range static.References(expr) {
		if steps.RootName() == "key_provider" && len(steps) == 3 {
			name, at, valid := traversalName(steps, "key_provider", steps.SourceRange())
			all = append(all, keyReference{name, at, valid})
		}
	}
	return all
}

// checkKey looks at a key provider.
func (d *document) checkKey(e *encryption, key *encryptionPart, above []string) {
	if !d.knownPart(key, "key_provider", "Unknown key_provider type") {
		return
	}
	attrs, ok := d.encryptionContent(key, "key_provider."+key.typ)
	if !ok {
		return
	}
	if !d.encryptionValues(e, "key_provider", key, attrs) {
		return
	}
	d.checkKeys(e, attrs, above)
	if key.typ == "pbkdf2" {
		d.checkPassphrase(key, attrs)
	}
}

// shortestPassphrase is the number of bytes that pbkdf2 wants; fewestIterations how often it is to hash.
const (
	shortestPassphrase = 16
	fewestIterations   = 200_000
)

// checkPassphrase looks at what pbkdf2 makes a key from, as far as it is written out.
func (d *document) checkPassphrase(key *encryptionPart, attrs hcl.Attributes) {
	const summary = "Unable to build encryption key data"
	passphrase, chain := attrs["passphrase"], attrs["chain"]
	switch {
	case passphrase == nil && chain == nil:
		d.error(key.header, summary, "The key provider needs the argument \"passphrase\", or \"chain\".")
		return
	case passphrase != nil && chain != nil:
		d.error(key.header, summary, "The arguments \"passphrase\" and \"chain\" exclude each other.")
		return
	case passphrase != nil:
		if text, ok := d.literalOf(passphrase, cty.String); ok && len(text.AsString()) < shortestPassphrase {
			d.error(key.header, summary, "The passphrase is too short: it has to have %d characters at least.", shortestPassphrase)
		}
	}
	for name, least := range map[string]int64{"key_length": 1, "iterations": fewestIterations, "salt_length": 1} {
		if number, ok := d.literalOf(attrs[name], cty.Number); ok && number.LessThan(cty.NumberIntVal(least)).True() {
			d.error(attrs[name].Expr.Range(), summary, "The value of %q has to be %d at least.", name, least)
		}
	}
	if text, ok := d.literalOf(attrs["hash_function"], cty.String); ok && text.AsString() != "sha256" && text.AsString() != "sha512" {
		d.error(attrs["hash_function"].Expr.Range(), summary, "The hash function is either sha256 or sha512.")
	}
}

// literalOf is the known value of an argument; false if there is none of the type.
func (d *document) literalOf(attr *hcl.Attribute, typ cty.Type) (cty.Value, bool) {
	val, ok := d.encryptionValue(attr)
	return val, ok && val.Type() == typ
}

// encryptionValue is the value of an argument that refers to no key provider; false if it is null, or not known.
func (d *document) encryptionValue(attr *hcl.Attribute) (val cty.Value, ok bool) {
	if attr == nil {
		return cty.NilVal, false
	}
	refs := static.References(attr.Expr)
	var diags hcl.Diagnostics
	switch {
	case len(refs) == 0:
		val, diags = static.Evaluate(attr.Expr)
	case d.scope == nil || len(others(refs)) < len(refs):
		return cty.NilVal, false
	default:
		val, diags = d.scope.Static("encryption", attr.Expr)
	}
	val, _ = val.UnmarkDeep()
	return val, !diags.HasErrors() && val.IsKnown() && !val.IsNull()
}

// encryptionName reads method.TYPE.NAME or key_provider.TYPE.NAME.
func encryptionName(expr hcl.Expression, root string) (name string, at hcl.Range, ok bool) {
	if native, isNative := static.Native(expr); isNative {
		if old, isQuoted := quoted(native); isQuoted && json.IsJSONExpression(expr) {
			if parsed, diags := hclsyntax.ParseTraversalAbs([]byte(old), "", hcl.InitialPos); !diags.HasErrors() {
				return traversalName(parsed, root, expr.Range())
			}
		}
		expr = native
	}
	steps, _ := hcl.AbsTraversalForExpr(expr)
	return traversalName(steps, root, expr.Range())
}

func traversalName(steps hcl.Traversal, root string, at hcl.Range) (string, hcl.Range, bool) {
	if len(steps) != 3 || steps.RootName() != root || static.StepName(steps, 1) == "" || static.StepName(steps, 2) == "" {
		return "", at, false
	}
	return static.StepName(steps, 1) + "." + static.StepName(steps, 2), at, true
}
