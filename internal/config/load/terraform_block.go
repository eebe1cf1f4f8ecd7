package load

import (
	"context"
	"fmt"
	"path/filepath"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/internal/wrapped"
)

// terraform decodes a terraform block.
func (d *document) terraform(b *block) {
	if attr := b.attrs["required_version"]; attr != nil && // since OpenTofu has the language block, this is Terraform's in files for both
		!(d.product.Understands("language") && hasSuffix(attr.Range.Filename, []string{".tf", ".tf.json"})) {
		if d.versions == nil {
			d.versions = []RequiredVersion{}
		}
		d.requireVersion(attr)
	}
	if attr := b.attrs["language"]; attr != nil && !d.product.Understands("language") { // else it is Terraform's
		d.edition(attr, languageEdition)
	}
	if attr := b.attrs["experiments"]; attr != nil && !experimental(d.product.Version) && !d.product.Understands("language") {
		d.error(attr.NameRange, "Module uses experimental features",
			"Experiments exist only in alpha releases of %s.", d.product.Name)
	}
	for _, inner := range b.blocks {
		switch inner.Type {
		case "backend", "cloud":
			d.addBackend(inner)
		case "required_providers":
			d.requiredProviders(inner)
		case "encryption":
			d.encryptionBlock(inner)
		case "provider_meta":
			d.checkLocalName(inner.Labels[0], inner.DefRange)
			d.declare(inner.DefRange, key{"provider_meta", "", inner.Labels[0]}, nil)
			attrs, diags := inner.Body.JustAttributes()
			d.report(d.leave("provider_meta", diags)...)
			for _, attr := range attrs {
				d.checkConstant(attr)
			}
		}
	}
}

func (d *document) requireVersion(attr *hcl.Attribute) {
	if c := d.versionConstraint(attr); c != nil {
		d.versions = append(d.versions, *c)
	}
}

// languageBlock decodes a language block, which says for which product versions a module is.
// Constraints on other products are ignored.
func (d *document) languageBlock(b *block) {
	if d.override {
		d.error(b.DefRange, "Language selections in override file", "A \"language\" block can't stand in an override file.")
		return
	}
	if attr := b.attrs["edition"]; attr != nil {
		d.edition(attr, languageEditionOpenTofu)
	}
	for _, expr := range d.elements(b.attrs["experiments"]) {
		if keyword := hcl.ExprAsKeyword(expr); keyword == "" {
			d.error(expr.Range(), "Invalid experiment keyword", "An experiment is named by a keyword without quotes.")
		} else {
			d.error(expr.Range(), "Unknown experiment keyword", "There is no experiment %q.", keyword)
		}
	}
	var first *hcl.Attribute
	for _, fit := range b.blocks {
		for _, attr := range fit.attrs {
			if first != nil {
				d.error(b.DefRange, "Duplicate compatible_with block", "There is a constraint for %s already at %s.", d.product.Name, first.Range)
				continue
			}
			first = attr
			d.requireVersion(attr)
			d.checkEffective(attr)
		}
	}
}

// checkEffective warns of a constraint that allows versions which ignore the block.
func (d *document) checkEffective(attr *hcl.Attribute) {
	given, _ := static.Literal(attr.Expr)
	constraint, err := version.NewConstraint(given)
	if err == nil && constraint.Check(version.Must(version.NewVersion(lastWithoutLanguage))) {
		d.warn(attr.Range, "Ineffective version constraint",
			"Versions before 1.12.0 don't read this block, so the constraint should exclude them. To require earlier ones, "+
				"write required_version in a terraform block, in a file whose name ends with .tofu.")
	}
}

// lastWithoutLanguage represents all versions of OpenTofu without the language block.
const lastWithoutLanguage = "1.11.0"

// The only editions of the language so far.
const (
	languageEdition         = "TF2021"
	languageEditionOpenTofu = "tofu2024"
)

// edition checks the edition of the language that the module names.
func (d *document) edition(attr *hcl.Attribute, only string) {
	switch keyword := hcl.ExprAsKeyword(attr.Expr); keyword {
	case only:
	case "": // a newer version can't read it either
		d.error(attr.Expr.Range(), "Invalid language edition",
			"The language edition has to be a keyword without quotes. The only one is %s, which can be left out.", only)
	default:
		if d.leftToPlan(attr.Expr.Range(), true) {
			return
		}
		d.error(attr.Expr.Range(), "Unsupported language edition",
			"There is no language edition %s in %s %s, only %s.", keyword, d.product.Name, d.product.Version, only)
	}
}

// addBackends adds the blocks of a primary file.
func (b *builder) addBackends(backends []Backend) {
	for _, next := range backends {
		before := b.state
		if diag := b.state.add(next, b.grammar, "Duplicate 'backend' configuration block"); diag != nil {
			b.found.report(diag)
			continue
		}
		if before.effective() != nil {
			b.found.error(b.state.backend.Range, "Conflicting 'cloud' and 'backend' configuration blocks are present",
				"State is kept in one place; there is a cloud block at %s.", b.state.cloud.Range)
		}
	}
}

// overrideBackends replaces the backend of the primary files. If an override file has a block of
// each kind, cloud applies. A kind that the file has twice is a problem, and replaces nothing.
func (b *builder) overrideBackends(backends []Backend) {
	var changed stateBlocks
	twice := map[bool]bool{} // whether it is the kind cloud
	for _, next := range backends {
		diag := changed.add(next, b.grammar, "Duplicate backend configuration")
		if diag != nil {
			b.found.report(diag)
			twice[next.Type == cloudBackend] = true
		}
	}

	if twice[true] {
		changed.cloud = nil
	}
	if twice[false] {
		changed.backend = nil
	}
	if changed.effective() != nil {
		b.state = changed
	}
}

// resolveBackend sets the values for references in the backend's block, if the product allows
// references. Secret values are a mistake, because the arguments are recorded. The problems matter
// only to callers that need the backend.
func (b *builder) resolveBackend() {
	given := b.module.Backend
	if !b.product.Understands("any_variable") || given == nil || given.Body == nil || b.module.Path != "" {
		return
	}
	block := *given
	b.module.Backend = &block
	block.Context, block.Problems = b.scope.BodyContext("backend."+block.Type, block.Range, block.Body)
	if len(block.Problems) == 0 {
		const summary, format = "Backend config contains %s values", "The arguments of a backend can't depend on %s values: they are recorded."
		if sensitive, ephemeral := static.Secrets(cty.ObjectVal(block.Context.Variables)); sensitive {
			block.Problems = append(block.Problems, diagnostic.Error(block.Range, fmt.Sprintf(summary, "sensitive"), format, "sensitive"))
		} else if ephemeral {
			block.Problems = append(block.Problems, diagnostic.Error(block.Range, fmt.Sprintf(summary, "ephemeral"), format, "ephemeral"))
		}
	}
	if len(block.Problems) > 0 {
		block.Body = nil
	}
}

// addBackend adds a block without decoding its body.
func (d *document) addBackend(b *block) {
	backend := Backend{Type: cloudBackend, Range: b.DefRange, Body: b.Body}
	if len(b.Labels) > 0 {
		backend.Type, backend.TypeRange = b.Labels[0], b.LabelRanges[0]
	}
	if diag := static.CheckCheap(b.Body); diag != nil {
		d.report(diag)
		backend.Body = nil
	}
	d.backends = append(d.backends, backend)
}

// LoadBody reads a file of arguments and blocks, as for -backend-config, in JSON if its name says
// so. The file may be a pipe, for which it waits until ctx is done. Its expressions are cheap to evaluate. Ranges have path as the file's
// name. The file is nil if it can't be used.
func LoadBody(ctx context.Context, path string) (*hcl.File, hcl.Diagnostics) {
	src, err := wholefile.ReadAny(ctx, path, maxFileBytes)
	if err != nil {
		return nil, hcl.Diagnostics{diagnostic.Placeless("Failed to read file",
			"The file %q could not be read: %v. It is what -backend-config names: a file of arguments, or one argument as NAME=VALUE.", path, wrapped.Reason(err))}
	}
	file, diags := static.Parse(src, filepath.Clean(path))
	if file == nil || file.Body == nil {
		return nil, diags
	}
	if diag := static.CheckCheap(file.Body); diag != nil {
		return nil, append(diags, diag)
	}
	return file, diags
}
