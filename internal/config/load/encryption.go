package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

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
