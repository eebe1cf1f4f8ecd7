package configs

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/getproviders"
)

// stateProvider reads the address of a provider configuration as it stands in
// a state, such as
//
//	module.network.provider["registry.terraform.io/hashicorp/aws"].east
//
// or, from Terraform 0.12, provider.aws. It is false for anything else.
func stateProvider(address string, product getproviders.Product) (getproviders.Provider, bool) {
	steps, diags := hclsyntax.ParseTraversalAbs([]byte(address), "", hcl.InitialPos)
	if diags.HasErrors() {
		return getproviders.Provider{}, false
	}
	for stepName(steps, 0) == "module" && stepName(steps, 1) != "" {
		steps = steps[2:]
	}
	if stepName(steps, 0) != "provider" || len(steps) < 2 || len(steps) > 3 {
		return getproviders.Provider{}, false
	}
	if len(steps) == 3 && stepName(steps, 2) == "" {
		return getproviders.Provider{}, false
	}
	var provider getproviders.Provider
	var err error
	switch step := steps[1].(type) {
	case hcl.TraverseIndex:
		if step.Key.Type() != cty.String {
			return getproviders.Provider{}, false
		}
		provider, err = product.ParseProvider(step.Key.AsString())
	case hcl.TraverseAttr:
		provider, err = legacyProvider(step.Name, product)
	default:
		return getproviders.Provider{}, false
	}
	return provider, err == nil
}

// legacyProvider is what a name meant before there were addresses.
func legacyProvider(name string, product getproviders.Product) (getproviders.Provider, error) {
	provider, err := product.ImpliedProvider(name)
	if err != nil || provider.IsBuiltIn() {
		return provider, err
	}
	return product.ParseProvider("-/" + provider.Type)
}
