package configs

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Requirements returns what the module itself asks for, without the modules
// that it calls: the entries of required_providers, the providers that
// provider blocks configure, and those that resources need, whether declared
// or implied by a type. A provider that only resources need is there once,
// with the place of the first.
//
// The product has to be the one that the module was loaded for. The errors here
// are those that the real tool tells only when it comes to providers:
// constraints that the stricter one of two parsers refuses, and legacy
// addresses. What they are about is left out of the requirements.
func (m *Module) Requirements(product getproviders.Product) (getproviders.Requirements, hcl.Diagnostics) {
	c := collector{product: product, path: m.Path, reqs: getproviders.Requirements{}, declared: map[string]getproviders.Provider{}}
	for _, entry := range m.required {
		c.declared[entry.name] = entry.provider
		c.require(entry.provider, entry.version, entry.entry)
	}
	for _, config := range m.providers {
		c.requireName(config.name, config.version, config.header)
	}
	for _, u := range m.users {
		c.requireName(u.localName(), nil, u.needed)
	}
	sortDiagnostics(c.diags)
	return c.reqs, c.diags
}

// collector gathers the requirements of a module.
type collector struct {
	product  getproviders.Product
	path     string // of the module
	reqs     getproviders.Requirements
	declared map[string]getproviders.Provider // by local name
	diags    hcl.Diagnostics
}

// requireName adds the provider that a local name means, unless it is there
// already and nothing new is said about it.
func (c *collector) requireName(name string, version *versionConstraint, at hcl.Range) {
	provider, err := c.product.ImpliedProvider(name)
	if err != nil {
		return // an error since the module was loaded
	}
	// The type of the implied provider is the name as it is declared, even if
	// it stands in capitals here.
	if declared, ok := c.declared[provider.Type]; ok {
		provider = declared
	}
	if _, ok := c.reqs[provider]; ok && version == nil {
		return
	}
	c.require(provider, version, at)
}

// require adds a requirement. A constraint on a built-in provider is left for
// the installer to refuse.
func (c *collector) require(provider getproviders.Provider, version *versionConstraint, at hcl.Range) {
	req := getproviders.Requirement{Origin: getproviders.Origin{Module: c.path, File: at.Filename, Line: at.Start.Line}}
	if provider.IsLegacy() {
		c.diags = append(c.diags, Problem(at, "Invalid legacy provider address",
			"The address %q is from before providers had namespaces. Write the source of the provider %q in full, or complete the upgrade to Terraform 0.13 first.",
			provider, provider.Type))
		return
	}
	if version != nil {
		constraints, err := getproviders.ParseConstraints(version.text)
		if err != nil {
			c.diags = append(c.diags, Problem(version.attr, "Invalid version constraint", "Incorrect version constraint syntax: %v.", err))
			return
		}
		req.Constraints = constraints
	}
	c.reqs.Add(provider, req)
}
