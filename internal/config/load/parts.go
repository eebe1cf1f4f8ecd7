package load

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
)

// providerKey identifies a configuration of a provider in a module.
type providerKey struct {
	name  string // the local name
	alias string // "" means the default configuration
}

// String returns the configuration as in references.
func (k providerKey) String() string {
	if k.alias == "" {
		return k.name
	}
	return k.name + "." + k.alias
}

// key identifies a declaration in a module.
type key struct {
	block string // "resource", "local", ...
	typ   string // of resources; the local name of providers
	name  string // the alias of providers
}

// String names the declaration for messages.
func (k key) String() string {
	switch k.block {
	case "test variable":
		k.block = "variable"
	case "test provider":
		k.block = "provider"
	}
	switch {
	case k.block == "provider" && k.name == "":
		return fmt.Sprintf("default configuration of provider %q", k.typ)
	case k.block == "provider":
		return fmt.Sprintf("configuration of provider %q with the alias %q", k.typ, k.name)
	case k.block == "local":
		return fmt.Sprintf("local value %q", k.name)
	case k.typ == "" && k.name == "": // such as "variables" in a test file
		return k.block + " block"
	case k.typ == "":
		return fmt.Sprintf("%s %q", k.block, k.name)
	}
	return fmt.Sprintf("%s %q %q", k.block, k.typ, k.name)
}

// declaration is a block, or a local value, whose key must be unique.
type declaration struct {
	key
	rng  hcl.Range
	item any // a *ModuleCall, *user, *providerConfig, *static.Variable, or the *hcl.Attribute of a local value
}

// requiredProvider is an entry of a required_providers block.
type requiredProvider struct {
	name     string // the local name
	provider getproviders.Provider
	version  *RequiredVersion // nil means any
	aliases  []providerKey    // that callers must pass
	value    hcl.Range        // to the right of the equals sign
	entry    hcl.Range
}

// requiredBlock is a required_providers block.
type requiredBlock struct {
	entries []*requiredProvider // sorted by local name
	header  hcl.Range
}

// providerConfig is a provider block.
type providerConfig struct {
	providerKey
	version    *RequiredVersion // nil means any
	configured bool             // the block isn't empty
	forEach    *hcl.Attribute   // nil means one instance
	header     hcl.Range
}

// user is a resource or another object that needs a provider because of its type.
type user struct {
	key      key
	provider *providerRef // nil means the provider of the type
	forEach  *hcl.Attribute
	needed   hcl.Range // header of the block
}

// localName returns the provider's local name, explicit or the type's part before the first
// underscore.
func (u *user) localName() string {
	if u.provider != nil {
		return u.provider.name
	}
	name, _, _ := strings.Cut(u.key.typ, "_")
	return name
}

// providerRef is a reference to the configuration of a provider, such as the
// value of a "provider" argument.
type providerRef struct {
	providerKey
	at   hcl.Range // of the name
	attr hcl.Range // of the argument; zero for an entry of a map

	instance *hcl.Range // of an instance's key; nil without one
}

// same reports whether both refer to the same configuration; o may be nil.
func (r *providerRef) same(o *providerRef) bool {
	return o != nil && r.providerKey == o.providerKey
}

// stateBlocks are the blocks that say where state is kept: one of either kind, not both.
type stateBlocks struct{ backend, cloud *Backend }

// effective returns the block that applies.
func (s *stateBlocks) effective() *Backend {
	return cmp.Or(s.cloud, s.backend)
}

// add sets a block, unless there is one of its kind already, which is a problem. again is the
// summary of that for a second backend block.
func (s *stateBlocks) add(next Backend, g *grammar, again string) *hcl.Diagnostic {
	if g.product.Understands("own_summaries") {
		again = "Duplicate backend configuration"
	}
	slot, summary := &s.backend, again
	if next.Type == cloudBackend {
		slot, summary = &s.cloud, "Duplicate HCP Terraform configurations"
		if g.product.Understands("own_summaries") {
			summary = "Duplicate cloud configurations"
		}
	}
	if *slot != nil {
		return diagnostic.Error(next.Range, summary, "There is such a block already at %s.", (*slot).Range)
	}
	*slot = &next
	return nil
}

// mockData is a directory of mock data that a mock provider names.
type mockData struct {
	dir    string // relative to the working directory
	header hcl.Range
}

// encryption has the settings of all encryption blocks, by which OpenTofu encrypts states and
// plans. They are only checked: nothing is encrypted or decrypted here.
type encryption struct {
	header  hcl.Range                    // of the first block
	parts   map[string]*encryptionPart   // by name
	targets map[string]*encryptionTarget // "state", "plan", "remote.default", "remote.NAME"
}

// override returns e with the settings of over, which have precedence.
func (e *encryption) override(over *encryption) *encryption {
	if e == nil || over == nil {
		return cmp.Or(over, e)
	}
	merged := &encryption{header: e.header, parts: maps.Clone(e.parts), targets: maps.Clone(e.targets)}
	for name, part := range over.parts {
		if first, ok := e.parts[name]; ok {
			part = &encryptionPart{kind: part.kind, typ: part.typ, name: name, header: first.header, bodies: slices.Concat(first.bodies, part.bodies)}
		}
		merged.parts[name] = part
	}
	for name, target := range over.targets {
		base := merged.targets[name]
		if base == nil {
			merged.targets[name] = target
			continue
		}
		merged.targets[name] = &encryptionTarget{
			method: cmp.Or(target.method, base.method), enforced: base.enforced || target.enforced,
			fallback: cmp.Or(target.fallback, base.fallback), header: base.header,
		}
	}
	return merged
}

// encryptionPart is a method or a key provider, from one or more blocks.
type encryptionPart struct {
	kind   string // "method" or "key_provider"
	typ    string
	name   string // KIND.TYPE.NAME
	header hcl.Range
	bodies []hcl.Body // later ones override earlier ones
}

// encryptionTarget is the method that encrypts something, and the older methods that can decrypt
// it.
type encryptionTarget struct {
	method   *hcl.Attribute // nil: none
	enforced bool
	fallback *encryptionTarget
	header   hcl.Range
}

// cloudBackend is the backend type of a cloud block.
const cloudBackend = "cloud"

// Backend is a backend or cloud block. Package backend decodes the body.
type Backend struct {
	Type      string    // "cloud" for a cloud block
	TypeRange hcl.Range // of the label; zero for a cloud block
	Range     hcl.Range // of the block's header
	Body      hcl.Body  // its expressions are cheap to evaluate; nil if they aren't, which was reported, or if there are Problems

	// Context has the values for references in the body, in products that evaluate variables there;
	// nil means none.
	Context *hcl.EvalContext

	// Problems are problems with references of the arguments, in such products; Body is nil then. They
	// matter only to callers that need the backend, and are in no other diagnostics.
	Problems hcl.Diagnostics
}

// reporter collects problems.
type reporter struct{ diags hcl.Diagnostics }

func (r *reporter) report(diags ...*hcl.Diagnostic) { r.diags = diagnostic.Append(r.diags, diags...) }

// error reports an error at a position: a summary, and a detail formatted as by fmt.Sprintf.
func (r *reporter) error(at hcl.Range, summary, format string, args ...any) {
	r.report(diagnostic.Error(at, summary, format, args...))
}

func (r *reporter) warn(at hcl.Range, summary, format string, args ...any) {
	r.report(diagnostic.Warning(at, summary, format, args...))
}

// maxFileBytes is far more than any configuration file has. Parsing takes a hundred times as much
// memory.
const maxFileBytes, maxDirBytes = 16 << 20, 64 << 20

// ignored reports whether a name is that of an editor's own file.
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") ||
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#")
}

func hasSuffix(name string, suffixes []string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// importTarget is an import block.
type importTarget struct {
	resource key
	inModule bool   // the resource is in another module
	address  string // without keys
	keys     string // equal for equal keys
	computed bool   // some keys aren't known yet
	provider *providerRef
	header   hcl.Range
	to       hcl.Range // the address
}

// RequiredVersion is one required_version argument.
type RequiredVersion struct {
	Text  string    // the constraints as written
	Range hcl.Range // of the whole argument
}
