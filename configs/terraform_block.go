package configs

import (
	"strings"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
)

// languageEdition is the only one there has ever been.
const languageEdition = "TF2021"

// terraform decodes a terraform block.
func (d *document) terraform(_ *hcl.Block, content *hcl.BodyContent) {
	if attr, ok := content.Attributes["required_version"]; ok && d.countsVersion(attr.Range.Filename) {
		if d.versions == nil {
			d.versions = []RequiredVersion{}
		}
		d.requireVersion(attr)
	}
	if attr, ok := content.Attributes["language"]; ok {
		d.language(attr)
	}
	if attr, ok := content.Attributes["experiments"]; ok && !experimental(d.product.Version) {
		d.report(Problem(attr.NameRange, "Module uses experimental features",
			"Experiments exist only in alpha releases of %s.", d.product.Name))
	}
	for _, block := range content.Blocks {
		switch block.Type {
		case "backend":
			d.addBackend(block.Labels[0], block)
		case "cloud":
			d.addBackend(cloudBackend, block)
		case "required_providers":
			d.requiredProviders(block)
		case "provider_meta":
			d.checkLocalName(block.Labels[0], block.DefRange)
			d.declare(block.DefRange, "provider_meta", "", block.Labels[0])
		}
	}
}

// countsVersion reports whether required_version counts in a file. OpenTofu takes
// what stands in files for both products for a version of Terraform.
func (d *document) countsVersion(file string) bool {
	return d.product.VersionSuffixes == nil || hasSuffix(file, d.product.VersionSuffixes)
}

func (d *document) requireVersion(attr *hcl.Attribute) {
	if c := d.versionConstraint(attr); c != nil {
		d.versions = append(d.versions, RequiredVersion{Text: c.text, Range: attr.Range})
	}
}

// languageBlock decodes a block that says for which versions of which products a
// module is. What is said of other products doesn't matter.
func (d *document) languageBlock(_ *hcl.Block, content *hcl.BodyContent) {
	for _, block := range content.Blocks {
		attrs, diags := block.Body.JustAttributes()
		d.report(diags...)
		if attr, ok := attrs[strings.ToLower(d.product.Name)]; ok {
			d.requireVersion(attr)
		}
	}
}

// experimental reports whether a version is of the kind that allows
// experiments.
func experimental(version string) bool {
	return strings.Contains(version, "-alpha") || strings.Contains(version, "-dev")
}

// language checks the edition that the module is written in.
func (d *document) language(attr *hcl.Attribute) {
	switch keyword := hcl.ExprAsKeyword(attr.Expr); keyword {
	case languageEdition:
	case "":
		d.report(Problem(attr.Expr.Range(), "Invalid language edition",
			"The language edition has to be a keyword without quotes. The only one is %s, which can be left out.", languageEdition))
	default:
		d.report(Problem(attr.Expr.Range(), "Unsupported language edition",
			"There is no language edition %s in %s %s, only %s.", keyword, d.product.Name, d.product.Version, languageEdition))
	}
}

// versionConstraint reads an argument that is a version constraint. It is nil
// if the argument is null or wrong.
func (d *document) versionConstraint(attr *hcl.Attribute) *versionConstraint {
	val, diags := evaluate(attr.Expr)
	d.report(diags...)
	if diags.HasErrors() || val.IsNull() {
		return nil
	}
	given, ok := text(val)
	if !ok {
		d.report(Problem(attr.Expr.Range(), "Invalid version constraint", "The value of %s has to be a string.", attr.Name))
		return nil
	}
	return d.parseConstraint(given, attr.Range, attr.Expr.Range())
}

// parseConstraint is the first of the two parsers that a constraint has to
// pass, the lenient one. The other's complaints belong to the requirements.
func (d *document) parseConstraint(given string, attr, value hcl.Range) *versionConstraint {
	if _, err := version.NewConstraint(given); err != nil {
		d.report(Problem(value, "Invalid version constraint",
			"%q is no version constraint. Examples of correct ones are \"1.2.3\", \"~> 1.2\" and \">= 1.2, < 3.0\".", given))
		return nil
	}
	return &versionConstraint{text: given, attr: attr}
}
