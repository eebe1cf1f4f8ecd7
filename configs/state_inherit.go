package configs

import "github.com/tfdeps/tfdeps/getproviders"

// InheritState returns what a state requires, with the providers of the
// registry of the product's predecessor replaced by those of the same names in the
// product's own: whoever wrote them meant the default. Those that the
// configuration requires as they are stay.
func InheritState(fromState, fromConfig getproviders.Requirements, product getproviders.Product) getproviders.Requirements {
	if product.Predecessor == nil {
		return fromState
	}
	required := getproviders.Requirements{}
	for p, requirements := range fromState {
		if _, named := fromConfig[p]; !named && p.Hostname == product.Predecessor.DefaultHost {
			p.Hostname = product.DefaultHost
		}
		required[p] = append(required[p], requirements...)
	}
	return required
}
