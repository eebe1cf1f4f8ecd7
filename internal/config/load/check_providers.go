package load

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// Link is a call in a tree of modules, and the module that it leads to.
type Link struct {
	Caller *Module
	Call   ModuleCall // one of the caller's
	Module *Module
}

// CheckProviders checks how the providers of a tree of modules fit together, and whether calls'
// arguments match the modules' variables: what calls pass, what modules need to be passed, and what
// they configure themselves. Each link must follow the link to its caller. Modules without a link,
// such as the root and those of test runs, need nothing to be passed.
//
// The modules must have been loaded for the same product. Terraform makes these checks after
// installing modules, before it looks for providers or reads the backend. Its command get reports
// the errors as warnings.
func CheckProviders(links []Link) hcl.Diagnostics {
	c := passing{repeated: map[*Module]hcl.Range{}}
	for _, link := range links {
		if c.product = link.Module.grammar.product; link.Module.grammar.product.Understands("call_arguments") {
			c.checkArguments(link)
		}
		c.checkRepeated(link)
		c.checkPassed(link)
		c.checkMissing(link)
		c.checkInherited(link)
		c.checkEmpty(link.Module)
	}
	return c.found.diags
}

// TreeProblem is the Extra of problems between modules: a module doesn't fit its caller, or its
// place in the tree. OpenTofu's get reports these errors as warnings, like those of
// [CheckProviders].
type TreeProblem struct{}

// asTreeProblem marks a diagnostic as a TreeProblem.
func asTreeProblem(diag *hcl.Diagnostic) *hcl.Diagnostic {
	diag.Extra = TreeProblem{}
	return diag
}

// passing finds the problems with the providers of a tree.
type passing struct {
	product  dialect.Dialect
	repeated map[*Module]hcl.Range // the nearest call above a module with count, for_each or depends_on
	found    reporter
}

// checkArguments reports arguments without a variable in the module, and blocks.
func (c *passing) checkArguments(link Link) {
	c.found.diags = append(c.found.diags, link.Call.blocks...)
	for _, name := range slices.Sorted(maps.Keys(link.Call.arguments)) {
		if at := link.Call.arguments[name].NameRange; link.Module.variables[name] == nil {
			c.found.report(cmp.Or(Newer(c.product.Product, at), diagnostic.Error(at, "Unsupported argument",
				"The module %q has no variable %q. Leave out the argument, or declare the variable in the module.", link.Call.Name, name)))
		}
	}
}

// checkRepeated reports modules that configure providers and are called with count, for_each or
// depends_on.
func (c *passing) checkRepeated(link Link) {
	at := link.Call.repeated
	if at == (hcl.Range{}) {
		at = c.repeated[link.Caller]
	}
	c.repeated[link.Module] = at
	if at == (hcl.Range{}) {
		return
	}
	for _, config := range link.Module.providers {
		if config.configured {
			c.found.error(at, "Module is incompatible with count, for_each, and depends_on",
				"%s configures the provider %q itself, at %s. Such a module, and the modules that call it, can't be repeated or made to wait. "+
					"It should require the provider, and be passed its configuration.", link.Module.subject(), config.name, config.header)
			return
		}
	}
}

// checkPassed checks both sides of the entries that a call passes.
func (c *passing) checkPassed(link Link) {
	const undefined = "Reference to undefined provider"
	for _, passed := range link.Call.providers {
		child, parent := passed.child, passed.parent
		own := link.Module.configs[child.providerKey]
		if own != nil && own.configured {
			c.found.error(child.at, "Cannot override provider configuration",
				"The module %s configures the provider %s itself, at %s, and can't be passed another configuration.", link.Module.Path, child, own.header)
		}
		if !link.Module.declares(child.providerKey) && (own == nil || own.configured) {
			c.found.warn(child.at, undefined,
				"The module %s doesn't require a provider as %q, which is taken to be %s. If the module is yours, add it to its required_providers.",
				link.Module.Path, child, c.product.Short(c.implied(child.name)))
		}
		c.checkType(link, passed)
		if parent.alias == "" && link.Caller.required[parent.name] == nil && !link.Caller.configures(parent.providerKey) {
			c.found.warn(parent.at, undefined,
				"%s doesn't require a provider as %q, which is taken to be %s. Add it to its required_providers.",
				link.Caller.subject(), parent.name, c.product.Short(c.implied(parent.name)))
		}
	}
}

// checkType compares the providers of the two names of an entry. If the caller also requires a
// provider by the module's name for a default configuration, Terraform compares with that provider,
// whichever is passed.
func (c *passing) checkType(link Link, passed passedProvider) {
	wanted, given := c.provider(link.Module, passed.child.name), c.provider(link.Caller, passed.parent.name)
	if passed.child.alias == "" && link.Caller.required[passed.child.name] != nil {
		given = c.provider(link.Caller, passed.child.name)
	}
	if wanted != given {
		c.found.error(passed.parent.at, "Provider type mismatch",
			"What the call passes as %q is a configuration of %s, and %q is %s in the module %s.",
			passed.child, c.product.Short(given), passed.child, c.product.Short(wanted), link.Module.Path)
	}
}

// checkMissing reports configurations that a module needs to be passed, and isn't.
func (c *passing) checkMissing(link Link) {
	for _, entry := range link.Module.entries() {
		for _, wanted := range entry.aliases {
			if link.Call.passes(wanted) || link.Module.configures(wanted) {
				continue
			}
			c.found.error(link.Call.Range, "Missing required provider configuration",
				"The module %s has to be passed a configuration of %s, which it calls %s. Add an entry for that to the argument \"providers\" of the call.",
				link.Module.Path, c.product.Short(entry.provider), wanted)
		}
	}
}

// checkInherited reports default configurations that a module passes on without being passed them:
// it inherits them from its caller by name.
func (c *passing) checkInherited(link Link) {
	reported := map[providerKey]bool{}
	for _, call := range link.Module.Calls {
		for _, passed := range call.providers {
			needed := passed.parent.providerKey
			entry := link.Module.required[needed.name]
			if needed.alias != "" || entry == nil || reported[needed] || link.Call.passes(needed) || link.Module.configures(needed) {
				continue
			}
			reported[needed] = true
			c.found.warn(link.Call.Range, "Missing required provider configuration",
				"The module %s passes its configuration of %s on, %q, but isn't passed one under this name. Add an entry for that to the argument \"providers\" of the call.",
				link.Module.Path, c.product.Short(entry.provider), needed.name)
		}
	}
}

// checkEmpty reports empty provider blocks, once for each name: they were the old way of requiring
// a provider to be passed.
func (c *passing) checkEmpty(m *Module) {
	reported := map[string]bool{}
	for _, config := range m.providers {
		if config.configured || reported[config.name] {
			continue
		}
		reported[config.name] = true
		c.found.warn(config.header, "Redundant empty provider block",
			"The module %s has provider blocks for %q that configure nothing. Instead of them, "+
				"require %s in required_providers, and name what callers have to pass in configuration_aliases there.",
			m.Path, config.name, c.product.Short(c.provider(m, config.name)))
	}
}

// provider returns the provider of a local name in a module.
func (c *passing) provider(m *Module, name string) getproviders.Provider {
	if entry := m.required[name]; entry != nil {
		return entry.provider
	}
	return c.implied(name)
}

// implied returns the provider of a passed local name without an entry. Unlike elsewhere,
// "terraform" isn't the built-in provider here.
func (c *passing) implied(name string) getproviders.Provider {
	provider, _ := c.product.ParseProvider(name) // loading the module has checked the name
	return provider
}
