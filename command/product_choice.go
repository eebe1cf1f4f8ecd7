package command

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// productSettings are a product, its variables, and what there is without them.
type productSettings struct {
	at             func(version string) getproviders.Product
	path, version  string // variables: where the real program is, and its version
	defaultVersion string // what we go by where there is nothing to go by
}

// settingsOf are those of each product, by its program.
var settingsOf = map[string]productSettings{
	"terraform": {getproviders.Terraform, realVariable, productVersionVariable, defaultProductVersion},
	"tofu":      {getproviders.OpenTofu, realTofuVariable, tofuVersionVariable, "1.12.6"},
}

// chooseProduct finds out whose work we do, at a version that isn't known: that of
// the program that -with names and which goes on from what we leave, of the program
// in whose place we are, of the one that TFDEPS_PRODUCT says, or Terraform's.
// What else there is in a directory decides nothing: files that only one
// product reads may be there for the other's sake.
func (m *Meta) chooseProduct() (getproviders.Product, error) {
	name := m.with
	if name == "" && m.StandIn != nil {
		name = m.StandIn.Name
	}
	if product, ok := productOfProgram(name); ok {
		return product, nil
	}
	return productByVariable(m.Env)
}

// enforceVariable, with the value "true", has OpenTofu refuse packages without a
// signature.
const enforceVariable = "OPENTOFU_ENFORCE_GPG_VALIDATION"

// strict is the product as the environment makes it.
func (m *Meta) strict(product getproviders.Product) getproviders.Product {
	if m.Env.Get(enforceVariable) == "true" {
		product.KeylessHost = ""
	}
	return product
}

// unversioned is chooseProduct for commands that ask nobody and run nothing, to
// which the version is all one. A variable that can't be used is a matter of other commands.
func (m *Meta) unversioned() getproviders.Product {
	product, _ := m.chooseProduct()
	return product
}

// productByVariable is Terraform if the variable isn't set, or can't be used.
func productByVariable(env Environment) (getproviders.Product, error) {
	variable := productVariable
	if env.Get(variable) == "" && env.Get(oldProductVariable) != "" {
		variable = oldProductVariable
	}
	given := cmp.Or(env.Get(variable), "terraform")
	if settings, ok := settingsOf[given]; ok {
		return settings.at(""), nil
	}
	return getproviders.Terraform(""), fmt.Errorf("the value of %s is %q, and has to be \"terraform\" or \"tofu\"", variable, given)
}

// productOfProgram is the product that a program's name begins with, as
// "tofu1.12.6" does.
func productOfProgram(name string) (getproviders.Product, bool) {
	for program, settings := range settingsOf {
		if strings.HasPrefix(name, program) {
			return settings.at(""), true
		}
	}
	return getproviders.Product{}, false
}
