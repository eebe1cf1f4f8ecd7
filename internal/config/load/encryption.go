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

// encryptionBlock decodes an encryption block. A second one in a file is an error.
func (d *document) encryptionBlock(b *block) {
	if d.encrypted != nil {
		d.error(b.DefRange, "Duplicate encryption configuration", "There is an encryption block already at %s.", d.encrypted.header)
		return
	}
	d.encrypted = d.decodeEncryption(b.Block)
}

// decodeEncryption reads the content of an encryption block.
func (d *document) decodeEncryption(given *hcl.Block) *encryption {
	e := &encryption{header: given.DefRange, parts: map[string]*encryptionPart{}, targets: map[string]*encryptionTarget{}}
	for _, b := range d.read(given, "encryption").blocks {
		switch b.Type {
		case "key_provider", "method":
			d.encryptionPart(e, b)
		case "state", "plan":
			e.targets[b.Type] = encryptionTargetOf(b)
		default:
			d.remoteTargets(e, b)
		}
	}
	return e
}

// encryptionPart adds a key provider or a method.
func (d *document) encryptionPart(e *encryption, b *block) {
	for i, label := range b.Labels {
		if strings.Trim(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || label == "" {
			d.error(b.LabelRanges[i], "Invalid encryption block", "%q can't be used here: letters, digits, underscores and dashes can.", label)
		}
	}
	name := b.Type + "." + strings.Join(b.Labels, ".")
	if first, ok := e.parts[name]; ok {
		d.error(b.DefRange, "Duplicate "+b.Type, "There is one already at %s.", first.header)
		return
	}
	e.parts[name] = &encryptionPart{kind: b.Type, typ: b.Labels[0], name: name, header: b.DefRange, bodies: []hcl.Body{b.Body}}
}

// encryptionTargetOf decodes a block that names an encryption method for something.
func encryptionTargetOf(b *block) *encryptionTarget {
	target := &encryptionTarget{method: b.attrs["method"], header: b.DefRange, enforced: static.IsTrue(b.attrs["enforced"])}
	if fallback := b.of("fallback"); len(fallback) > 0 {
		target.fallback = encryptionTargetOf(fallback[0])
	}
	return target
}

// remoteTargets reads the blocks about states that data sources read.
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

// addEncryption adds the block of a primary file; a module has at most one.
func (b *builder) addEncryption(e *encryption) {
	if first := b.module.encryption; first == nil {
		b.module.encryption = e
	} else if e != nil {
		b.found.error(e.header, "Duplicate encryption configuration", "There is an encryption block already at %s.", first.header)
	}
}

// EncryptionVariable is the environment variable with additions to the encryption blocks of
// OpenTofu's configuration, in either syntax.
const EncryptionVariable = "TF_ENCRYPTION"

// CheckEncryption returns the mistakes in how states and plans are encrypted, for products that do
// that: methods and key providers that don't exist or aren't declared, and unknown or missing
// arguments. environment is the value of [EncryptionVariable]. It derives no keys, and requests
// none from services; plan finds the mistakes there. It isn't safe for concurrent use.
func (m *Module) CheckEncryption(environment string) hcl.Diagnostics {
	d := &document{product: m.grammar.product, grammar: m.grammar, scope: m.scope}
	e, name := m.encryption, EncryptionVariable
	if environment = strings.TrimSpace(environment); environment != "" {
		if environment[0] == '{' {
			name += ".json" // selects the JSON syntax
		}
		file, diags := static.Parse([]byte(environment), name)
		d.report(diags...)
		if file == nil || file.Body == nil || diags.HasErrors() {
			return withoutSource(name, d.found.diags)
		}
		e = e.override(d.decodeEncryption(&hcl.Block{Body: file.Body, DefRange: diagnostic.Beginning(name)}))
	}
	if e == nil {
		return nil
	}

	d.warnOfUnencrypted(e)
	for _, name := range slices.Sorted(maps.Keys(e.targets)) {
		d.checkTarget(e, e.targets[name])
	}
	return withoutSource(name, d.found.diags)
}

// warnOfUnencrypted warns, once, of methods that encrypt nothing, whether or not they are used.
func (d *document) warnOfUnencrypted(e *encryption) {
	for _, part := range e.parts {
		if part.kind == "method" && part.typ == "unencrypted" {
			d.warn(e.header, "Unencrypted method configured",
				"The encryption settings have the method \"unencrypted\", which is meant for the time of a migration: what it is used for can be read by everybody.")
			return
		}
	}
}

// withoutSource removes the positions of problems in the variable, because its lines are secret. There, name is the name of the
// file.
func withoutSource(name string, diags hcl.Diagnostics) hcl.Diagnostics {
	for _, diag := range diags {
		if diag.Subject != nil && diag.Subject.Filename == name {
			diag.Detail = fmt.Sprintf("In the variable %s, line %d: %s", EncryptionVariable, diag.Subject.Start.Line, diag.Detail)
			diag.Subject, diag.Context, diag.Expression, diag.EvalContext = nil, nil, nil, nil
		}
	}
	return diags
}

// checkTarget checks the methods of a target, and the settings of the method that encrypts it.
func (d *document) checkTarget(e *encryption, target *encryptionTarget) {
	var used []*encryptionPart
	for next := target; next != nil; next = next.fallback {
		if next.method == nil {
			d.error(next.header, "Invalid encryption method identifier", "The block has to name a method, as method.aes_gcm.example.")
			return
		}
		name := partIn(next.method.Expr, "method")
		switch method := e.parts["method."+name]; {
		case name == "":
			d.error(next.method.Expr.Range(), "Invalid encryption method identifier", "A method is named as method.aes_gcm.example.")
			return
		case method == nil:
			d.error(next.method.Expr.Range(), "Reference to undeclared encryption method", "There is no block for the method %s in the encryption block.", name)
		default:
			used = append(used, method)
		}
	}
	for _, method := range used {
		if target.enforced && method.typ == "unencrypted" {
			d.error(e.header, "Unencrypted method is forbidden", "With enforced = true, the method %q can't be used.", method.typ)
		}
	}
	if len(used) > 0 && !d.found.diags.HasErrors() {
		d.checkPart(e, used[0], nil)
	}
}

// checkPart checks a method or a key provider, and the key providers that it refers to. above has the names of the key providers
// on the way here.
func (d *document) checkPart(e *encryption, part *encryptionPart, above []string) {
	if !d.knownPart(part) || part.kind == "method" && part.typ == "unencrypted" {
		return
	}
	attrs, ok := d.encryptionContent(part)
	if !ok || !d.encryptionValues(e, part, attrs) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		for _, key := range keysIn(attrs[name].Expr) {
			switch provider := e.parts["key_provider."+key.name]; {
			case key.name == "":
				d.error(key.at, "Invalid Key Provider expression format", "A key provider is named as key_provider.pbkdf2.example.")
			case provider == nil:
				d.error(key.at, "Reference to undeclared key provider", "There is no block for the key provider %s in the encryption block.", key.name)
			case slices.Contains(above, key.name):
				d.error(key.at, "Circular reference detected", "Key providers refer to one another: %s.", strings.Join(append(above, key.name), " -> "))
			default:
				d.checkPart(e, provider, append(slices.Clip(above), key.name))
			}
		}
	}
	switch part.kind + "." + part.typ {
	case "method.aes_gcm":
		if val, ok := d.encryptionValue(attrs["aad"]); ok {
			if _, err := convert.Convert(val, cty.List(cty.Number)); err != nil {
				d.error(attrs["aad"].Expr.Range(), "Unsuitable value type", "The value of \"aad\" has to be a list of numbers.")
			}
		}
	case "key_provider.pbkdf2":
		d.checkPassphrase(part, attrs)
	}
}

// knownPart reports whether the part's type exists.
func (d *document) knownPart(part *encryptionPart) bool {
	known := d.grammar.holds(part.kind, part.typ)
	if !known && !d.leftToPlan(part.header, true) {
		summary := "Unknown " + part.kind + " type"
		if part.kind == "method" {
			summary = "Unknown encryption method type"
		}
		d.error(part.header, summary, "There is no %s %q. Those that there are: %s.",
			strings.ReplaceAll(part.kind, "_", " "), part.typ, strings.Join(d.grammar.names(part.kind), ", "))
	}
	return known
}

// encryptionContent returns the merged arguments of a part's blocks; false if they are invalid.
func (d *document) encryptionContent(part *encryptionPart) (all hcl.Attributes, valid bool) {
	in := part.kind + "." + part.typ
	schema := d.grammar.form(in).schema
	if len(part.bodies) > 1 {
		schema = optional(schema)
	}
	all, valid = hcl.Attributes{}, true
	for _, b := range part.bodies {
		content, diags := b.Content(schema)
		diags = d.leave(in, diags)
		d.report(diags...)
		valid = valid && !diags.HasErrors()
		maps.Copy(all, content.Attributes)
	}
	return all, valid
}

// encryptionValues reports references in a part's arguments that have no value before anything is installed;
// false if it finds any.
func (d *document) encryptionValues(e *encryption, part *encryptionPart, attrs hcl.Attributes) bool {
	var refs []hcl.Traversal
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		refs = append(refs, withoutKeys(static.References(attrs[name].Expr))...)
	}
	if d.scope == nil || len(refs) == 0 {
		return true
	}
	_, problems := d.scope.ContextFor("encryption."+part.name, e.header, refs)
	d.report(problems...)
	return len(problems) == 0
}

// withoutKeys returns the references without those to key providers.
func withoutKeys(refs []hcl.Traversal) []hcl.Traversal {
	return slices.DeleteFunc(slices.Clone(refs), func(t hcl.Traversal) bool { return t.RootName() == "key_provider" })
}

// keyReference is a reference to a key provider.
type keyReference struct {
	name string // TYPE.NAME; "" if it is malformed
	at   hcl.Range
}

// keysIn returns the references to key providers in an expression; in JSON a whole string can be
// one.
func keysIn(expr hcl.Expression) (all []keyReference) {
	if text, ok := static.Literal(expr); ok && strings.HasPrefix(text, "key_provider.") {
		return []keyReference{{partIn(expr, "key_provider"), expr.Range()}}
	}
	for _, steps := range static.References(expr) {
		if steps.RootName() == "key_provider" && len(steps) == 3 {
			all = append(all, keyReference{partAt(steps, "key_provider"), steps.SourceRange()})
		}
	}
	return all
}

// partIn returns TYPE.NAME of an expression method.TYPE.NAME or key_provider.TYPE.NAME, or "" for other expressions.
func partIn(expr hcl.Expression, kind string) string {
	if native, isNative := static.Native(expr); isNative {
		if old, isQuoted := quoted(native); isQuoted && json.IsJSONExpression(expr) {
			if parsed, diags := hclsyntax.ParseTraversalAbs([]byte(old), "", hcl.InitialPos); !diags.HasErrors() {
				return partAt(parsed, kind)
			}
		}
		expr = native
	}
	steps, _ := hcl.AbsTraversalForExpr(expr)
	return partAt(steps, kind)
}

func partAt(steps hcl.Traversal, kind string) string {
	name, ok := strings.CutPrefix(pathOf(steps), kind+".")
	if len(steps) != 3 || !ok || strings.Count(name, ".") != 1 {
		return ""
	}
	return name
}

// The least length of a passphrase in bytes, and the least number of iterations, of pbkdf2.
const (
	shortestPassphrase = 16
	fewestIterations   = 200_000
)

// checkPassphrase checks the arguments of pbkdf2 that are known.
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
	for _, number := range []struct {
		name  string
		least int64
	}{{"iterations", fewestIterations}, {"key_length", 1}, {"salt_length", 1}} {
		attr := attrs[number.name]
		if given, ok := d.literalOf(attr, cty.Number); ok && given.LessThan(cty.NumberIntVal(number.least)).True() {
			d.error(attr.Expr.Range(), summary, "The value of %q has to be %d at least.", number.name, number.least)
		}
	}
	if text, ok := d.literalOf(attrs["hash_function"], cty.String); ok && text.AsString() != "sha256" && text.AsString() != "sha512" {
		d.error(attrs["hash_function"].Expr.Range(), summary, "The hash function is either sha256 or sha512.")
	}
}

// literalOf returns the known value of an argument; false if it is unknown or of another type.
func (d *document) literalOf(attr *hcl.Attribute, typ cty.Type) (cty.Value, bool) {
	val, ok := d.encryptionValue(attr)
	return val, ok && val.Type() == typ
}

// encryptionValue returns the value of an argument without references to key providers; false if it is null or
// unknown.
func (d *document) encryptionValue(attr *hcl.Attribute) (val cty.Value, ok bool) {
	if attr == nil {
		return cty.NilVal, false
	}
	refs := static.References(attr.Expr)
	var diags hcl.Diagnostics
	switch {
	case len(refs) == 0:
		val, diags = static.Evaluate(attr.Expr)
	case d.scope == nil || len(withoutKeys(refs)) < len(refs):
		return cty.NilVal, false
	default:
		val, diags = d.scope.Static("encryption", attr.Expr)
	}
	val, _ = val.UnmarkDeep()
	return val, !diags.HasErrors() && val.IsKnown() && !val.IsNull()
}
