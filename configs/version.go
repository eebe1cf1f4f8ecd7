package configs

import (
	"fmt"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
)

// CheckVersion returns a problem for each required_version that the product's
// version doesn't satisfy or that can't be parsed. Prereleases don't count:
// only the three numbers of the product's version are compared, and a
// constraint that names a prerelease is a problem.
//
// The real tool, in a configuration that has such a problem, tells no other.
func (m *Module) CheckVersion(product getproviders.Product) hcl.Diagnostics {
	if len(m.RequiredVersions) == 0 {
		return nil
	}
	running, err := version.NewVersion(product.Version)
	if err != nil {
		return hcl.Diagnostics{Problem(m.RequiredVersions[0].Range, "Unknown "+product.Name+" version",
			"The configuration needs certain versions of %s, and %q is no version.", product.Name, product.Version)}
	}
	var diags hcl.Diagnostics
	for _, required := range m.RequiredVersions {
		if diag := required.check(product, running.Core(), m.subject()); diag != nil {
			diags = append(diags, diag)
		}
	}
	return diags
}

// subject is who requires a version, as a sentence begins with it.
func (m *Module) subject() string {
	if m.Path == "" {
		return "This configuration"
	}
	return fmt.Sprintf("Module %s (from %s)", m.Path, m.source)
}

// check returns nil if the version is one of those that are required.
func (r RequiredVersion) check(product getproviders.Product, running *version.Version, subject string) *hcl.Diagnostic {
	constraints, err := version.NewConstraint(r.Text)
	if err != nil {
		return Problem(r.Range, "Invalid version constraint", "%q is no version constraint.", r.Text)
	}
	for _, constraint := range constraints {
		if constraint.Prerelease() {
			return Problem(r.Range, "Invalid required_version constraint",
				"Take the prerelease out of %q: prereleases of %s count as the release that they precede.", constraint, product.Name)
		}
	}
	if constraints.Check(running) {
		return nil
	}
	return Problem(r.Range, "Unsupported "+product.Name+" Core version",
		"%s does not support %s version %s: it requires %s. Use a version that is supported, or change the constraint if it is out of date.",
		subject, product.Name, product.Version, r.Text)
}
