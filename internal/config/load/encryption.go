package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static"
)

// encryption decodes an encryption block; further ones of one file are an error.
func (d *document) encryption(b *block) {
	if d.encrypted != nil {
		d.error(b.DefRange, "Duplicate encryption configuration", "There is an encryption block already at %s.", d.encrypted.header)
		return
	}
	d.encrypted = d.decodeEncryption(b.Block)
}

// decodeEncryption reads the content of an encryption block.
func (d *document) decodeEncryption(given *hcl.Block) *encryption {
	e := &encryption{header: given.DefRange, keys: map[string]*encryptionPart{}, methods: map[string]*encryptionPart{}, targets: map[string]*encryptionTarget{}}
	for _, b := range d.read(given, "encryption").blocks {
		switch b.Type {
		case "key_provider":
			d.encryptionPart(e.keys, b)
		case "method":
			d.encryptionPart(e.methods, b)
		case "state", "plan":
			e.targets[b.Type] = encryptionTargetOf(b)
		default:
			d.remoteTargets(e, b)
		}
	}
	return e
}

// encryptionPart takes over a key provider or a method.
func (d *document) encryptionPart(parts map[string]*encryptionPart, b *block) {
	for i, label := range b.Labels {
		if strings.Trim(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || label == "" {
			d.error(b.LabelRanges[i], "Invalid encryption block", "%q can't be used here: letters, digits, underscores and dashes can.", label)
		}
	}
	name := strings.Join(b.Labels, ".")
	if first, ok := parts[name]; ok {
		d.error(b.DefRange, "Duplicate "+b.Type, "There is one already at %s.", first.header)
		return
	}
	parts[name] = &encryptionPart{typ: b.Labels[0], name: name, header: b.DefRange, bodies: []hcl.Body{b.Body}}
}

// encryptionTargetOf is what is encrypted by which method.
func encryptionTargetOf(b *block) *encryptionTarget {
	target := &encryptionTarget{method: b.attrs["method"], header: b.DefRange, enforced: static.IsTrue(b.attrs["enforced"])}
	if fallback := b.of("fallback"); len(fallback) > 0 {
		target.fallback = encryptionTargetOf(fallback[0])
	}
	return target
}

// remoteTargets reads what is said of states that data sources read.
func (d *document) remoteTargets(e *encryption, b *block) {
	for _, inner := range b.blocks {
		name := "remote." + strings.Join(inner.Labels, "")
		if inner.Type == "default" {
			name = "remote.default"
		} else if first, ok := e.targets[name]; ok {
			d.error(inner.DefRange, "Duplicate remote_data_source", "There is one already at %s.", first.header)
		}
		e.targets[name] = encryptionTargetOf(inner)
	}
}

// addEncryption takes over the block of a primary file; there can be only one.
func (b *builder) addEncryption(e *encryption) {
	first := b.module.encryption
	if first != nil && e != nil {
		b.error(e.header, "Duplicate encryption configuration", "There is an encryption block already at %s.", first.header)
	}
	if first == nil {
		b.module.encryption = e
	}
}

// EncryptionVariable is the environment variable with what OpenTofu adds to the encryption blocks
// of the configuration, in either syntax.
const EncryptionVariable = "TF_ENCRYPTION"

// CheckEncryption returns what can't be right about how states and plans are encrypted, for
// products that do that: methods and key providers that don't exist or aren't declared, and
// arguments that they don't have or need. environment is the value of [EncryptionVariable]. Keys
// aren't derived, and no service is asked for them: what is wrong there, plan says. It isn't safe
// for concurrent use.
func (m *Module) CheckEncryption(environment string) hcl.Diagnostics {
	d := &document{product: m.grammar.product, grammar: m.grammar, scope: m.scope}
	e := m.encryption
	if environment = strings.TrimSpace(environment); environment != "" {
		name := EncryptionVariable
		if environment[0] == '{' {
			name += ".json" // tells the syntaxes apart
		}
		file, diags := static.Parse([]byte(environment), name)
		d.report(diags...)
		if file == nil || file.Body == nil || diags.HasErrors() {
			return withoutSource(d.diags)
		}
		e = e.override(d.decodeEncryption(&hcl.Block{Body: file.Body, DefRange: diagnostic.Beginning(EncryptionVariable)}))
	}
	if e == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(e.targets)) {
		d.checkTarget(e, e.targets[name])
	}
	return withoutSource(d.diags)
}

// withoutSource takes the places off problems that are in the variable, which is no file, and
// whose lines are secret.
func withoutSource(diags hcl.Diagnostics) hcl.Diagnostics {
	for _, diag := range diags {
		if diag.Subject != nil && strings.HasPrefix(diag.Subject.Filename, EncryptionVariable) {
			diag.Detail = fmt.Sprintf("In the variable %s, line %d: %s", EncryptionVariable, diag.Subject.Start.Line, diag.Detail)
			diag.Subject, diag.Context, diag.Expression, diag.EvalContext = nil, nil, nil, nil
		}
	}
	return diags
}

// checkTarget looks at the methods for a target, and at the settings of the one by which it is encrypted.
func (d *document) checkTarget(e *encryption, target *encryptionTarget) {
	var used []*encryptionPart
	for next := target; next != nil; next = next.fallback {
		if next.method == nil {
			d.error(next.header, "Invalid encryption method identifier", "The block has to name a method, as method.aes_gcm.example.")
			return
		}
		name, at, ok := encryptionName(next.method.Expr, "method")
		if !ok {
			d.error(at, "Invalid encryption method identifier", "A method is named as method.aes_gcm.example.")
			return
		}
		method := e.methods[name]
		if method == nil {
			d.error(at, "Reference to undeclared encryption method", "There is no block for the method %s in the encryption block.", name)
			continue
		}
		used = append(used, method)
	}
	for _, method := range used {
		if target.enforced && method.typ == "unencrypted" {
			d.error(e.header, "Unencrypted method is forbidden", "With enforced = true, the method %q can't be used.", method.typ)
		}
	}
	if len(used) > 0 && !d.diags.HasErrors() {
		d.checkMethod(e, used[0])
	}
}

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
