package command

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// inheritLocks makes entries of a predecessor's lock file good for the product, and
// warns of it, as from then on both take turns in changing the file.
func inheritLocks(locks *depsfile.Locks, product getproviders.Product) view.Problems {
	inherited := locks.Inherit(product)
	if len(inherited) == 0 {
		return nil
	}
	var changes strings.Builder
	for _, lock := range inherited {
		own, _ := product.Inherits(lock.Provider)
		fmt.Fprintf(&changes, "\n  - %s => %s", lock.Provider, own)
	}
	return view.Problems{view.NewWarning("Dependency lock file entries automatically updated", fmt.Sprintf(
		"The lock file has entries that %s wrote. These are taken for providers of %s:%s\n\n"+
			"The versions stay. The hashes can't: the packages of the two registries are not the same.",
		product.Predecessor.Name, product.Name, &changes))}
}

// translationVariable turns off, with 0, that addresses in states are translated.
const translationVariable = "OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION"

// inheritState takes providers in a state that the product's predecessor wrote for
// those of its own registry, unless the configuration requires them as they are.
func (m *Meta) inheritState(fromState, fromConfig getproviders.Requirements, product getproviders.Product) getproviders.Requirements {
	if m.Env.Get(translationVariable) == "0" {
		return fromState
	}
	return configs.InheritState(fromState, fromConfig, product)
}
