package depsfile

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/locktext"
)

var (
	fileSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "provider", LabelNames: []string{"source_addr"}},
		{Type: "module", LabelNames: []string{"path"}},
	}}
	providerSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "version", Required: true},
		{Name: "constraints"},
		{Name: "hashes"},
	}}
)

// Decode reads a lock file's content; filename is for messages.
// Locks holds what could be read, even if there are errors.
func Decode(src []byte, filename string, product getproviders.Product) (*Locks, hcl.Diagnostics) {
	product = product.OrDefault()
	if locktext.CheckTokens(src, filename, locktext.MaxTokens) == nil {
		if locks, ok := decodeCanonical(src, product); ok {
			return locks, nil
		}
	}
	d := decoder{src: src, product: product, locks: &Locks{}, seen: map[getproviders.Provider]hcl.Range{}}
	diags := locktext.DecodeBlocks(src, filename, locktext.MaxTokens, fileSchema, d.decodeBlocks)
	return d.locks, diags
}

// decoder collects entries and problems.
type decoder struct {
	src     []byte
	product getproviders.Product
	locks   *Locks
	seen    map[getproviders.Provider]hcl.Range
	found   *locktext.Decoder
}

func (d *decoder) decodeBlocks(found *locktext.Decoder, blocks hcl.Blocks) {
	d.found = found
	for _, block := range blocks {
		if block.Type == "provider" {
			d.decodeProvider(block)
			continue
		}
		if d.locks.modules == nil {
			d.found.Problem(block.DefRange, "Dependency locks for modules are not yet supported",
				"%s v%s knows dependency locks for providers only; those for modules are ignored, and stay. The file may come from a later version that has both.",
				d.product.Name, d.product.Version)
			warning := d.found.Problems[len(d.found.Problems)-1]
			warning.Severity, warning.Extra = hcl.DiagWarning, diagnostic.Code("lock_file")
		}
		d.locks.modules = append(d.locks.modules, hcl.RangeBetween(block.DefRange, block.Body.(*hclsyntax.Body).SrcRange).SliceBytes(d.src))
	}
}

// decodeProvider reads a provider block. Without a valid address, it ignores the rest of the block.
func (d *decoder) decodeProvider(block *hcl.Block) {
	p, ok := d.decodeAddress(block)
	if !ok {
		return
	}
	content, diags := block.Body.Content(providerSchema)
	d.found.Problems = append(d.found.Problems, diags...)
	lock := Lock{Provider: p}
	hasVersion := false
	if attr := content.Attributes["version"]; attr != nil {
		lock.Version, hasVersion = d.decodeVersion(p, attr)
	}
	if attr := content.Attributes["constraints"]; attr != nil {
		lock.Constraints = d.decodeConstraints(p, attr)
	}
	if attr := content.Attributes["hashes"]; attr != nil {
		lock.Hashes = d.decodeHashes(attr)
	}
	if hasVersion {
		d.locks.put(lock)
	}
}

func (d *decoder) decodeAddress(block *hcl.Block) (p getproviders.Provider, ok bool) {
	const invalid = "Invalid provider source address"
	given, at := block.Labels[0], block.LabelRanges[0]
	p, err := d.product.ParseProvider(given)
	before, duplicate := d.seen[p]
	switch {
	case err != nil:
		d.found.Problem(at, invalid, "A lock needs the provider's full address, of the form \"hostname/namespace/type\". This is an %s", err)
	case p.IsBuiltIn():
		d.found.Problem(at, invalid, "The provider %s is built into %s, so its version can't be locked: no package is fetched for it. Check whether this address is meant: the block has no effect, and can be removed.", p, d.product.Name)
	case p.IsLegacy():
		d.found.Problem(at, invalid, "The legacy address %s doesn't say which provider is meant, so it can't be locked. Check which address the configuration has for it: the next init locks that one, and this block can be removed.", p)
	case given != p.String():
		d.found.Problem(at, "Non-normalized provider source address", "In the lock file this address must be written in full and in its normalized form: %q.", p)
	case duplicate:
		d.found.Problem(at, "Duplicate provider lock", "There is a lock for the provider %s already, at %s.", p, before)
	default:
		d.seen[p] = at
		return p, true
	}
	return p, false
}

func (d *decoder) decodeVersion(p getproviders.Provider, attr *hcl.Attribute) (v getproviders.Version, ok bool) {
	const invalid = "Invalid provider version number"
	var given *string // null is not ""
	at := attr.Expr.Range()
	if !d.found.Decode(attr.Expr, &given) {
		return v, false
	}
	if given == nil {
		d.found.Problem(at, "Missing required argument", "The lock of %s must have a version.", p)
		return v, false
	}
	v, err := getproviders.ParseVersion(*given)
	if err != nil {
		d.found.Problem(at, invalid, "The version that is locked for %s can't be read: %s.", p, err)
		return v, false
	}
	if v.String() != *given {
		d.found.Problem(at, invalid, "The version that is locked for %s must be written in its normalized form: %q.", p, v)
	}
	return v, true
}

func (d *decoder) decodeConstraints(p getproviders.Provider, attr *hcl.Attribute) getproviders.Constraints {
	const invalid = "Invalid provider version constraints"
	var given string
	at := attr.Expr.Range()
	if !d.found.Decode(attr.Expr, &given) {
		return getproviders.Constraints{}
	}
	c, err := getproviders.ParseConstraints(given)
	if err != nil {
		d.found.Problem(at, invalid, "The constraints that are recorded for %s can't be read: %s.", p, err)
	} else if c.String() != given {
		d.found.Problem(at, invalid, "The constraints that are recorded for %s must be written in their normalized form: %q.", p, c)
	}
	return c
}

func (d *decoder) decodeHashes(attr *hcl.Attribute) (hashes []getproviders.Hash) {
	elements, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() {
		d.found.Problems = append(d.found.Problems, diags...)
		return nil
	}
	if len(elements) == 0 {
		d.found.Problem(attr.Expr.Range(), "Invalid provider hash set", "The argument \"hashes\" must have at least one hash, or be left out.")
	}
	for _, element := range elements {
		var given string
		if !d.found.Decode(element, &given) {
			continue
		}
		hash, err := getproviders.ParseHash(given)
		if err != nil {
			d.found.Problem(element.Range(), "Invalid provider hash string", "%q can't be read as a hash of a provider's package: it must have a scheme, a colon and a value, in UTF-8.", given)
			continue
		}
		hashes = append(hashes, hash)
	}
	return hashes
}
