// Package products finds out whether tfdeps does the work of Terraform or of OpenTofu,
// which version of it, and the path of the real program.
//
//	product, problems := products.Choose(m)
//
// It runs only the product's program, to ask for its version.
package products

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Variables that choose the product, its version and the real programs.
const (
	productVariable          = "TFDEPS_PRODUCT"
	productAlias             = "TFDEPS_ENGINE" // the variable's first name
	terraformPathVariable    = "TFDEPS_TERRAFORM_PATH"
	terraformVersionVariable = "TFDEPS_TERRAFORM_VERSION"
	tofuPathVariable         = "TFDEPS_TOFU_PATH"
	tofuVersionVariable      = "TFDEPS_TOFU_VERSION"
)

// settings are a product, its variables, and the version without them.
type settings struct {
	at             func(version string) getproviders.Product
	path, version  string // variables with the path of the real program, and its version
	defaultVersion string // if nothing else sets the version
	isOld          func(getproviders.Version) bool
	Manner
}

// Manner has texts and behaviour of commands that differ between the products.
type Manner struct {
	Preamble problem.Problem // is printed before errors of the configuration
	NotEmpty problem.Problem // for -from-module in a directory with files

	RootFirst bool // errors of the root module end an init before it looks at the backend
	Guesses   bool // init warns of providers that are probably not the intended ones
	Lenient   bool // get only warns of errors about the combination of modules and their providers
	Said      bool // help says that it is this product's work
}

// Followed returns the newest versions of the products that this tfdeps knows, by their programs.
func Followed() map[string]string {
	return map[string]string{"terraform": defaultTerraform, "tofu": defaultTofu}
}

// Of returns the manner of a product.
func Of(product getproviders.Product) Manner { return settingsOf[product.Program].Manner }

// The default versions.
const (
	defaultTerraform = "1.16.0"
	defaultTofu      = "1.12.6"
)

// settingsOf has the settings of each product, by its program.
var settingsOf = map[string]settings{
	"terraform": {getproviders.Terraform, terraformPathVariable, terraformVersionVariable, defaultTerraform, isOld, Manner{
		Preamble: *problem.Error("invalid_configuration", `Terraform encountered problems during initialisation, including problems
with the configuration, described below.

The Terraform configuration must be valid before initialization so that
Terraform can determine which modules and providers need to be installed.`, ""),
		NotEmpty: *problem.Error("invalid_option", `The working directory already contains files. The -from-module option requires
an empty directory into which a copy of `+notEmpty, ""),
	}},
	"tofu": {getproviders.OpenTofu, tofuPathVariable, tofuVersionVariable, defaultTofu, func(getproviders.Version) bool { return false }, Manner{
		Preamble: *problem.Introduction(`OpenTofu encountered problems during initialization, including problems
with the configuration, described below.

The OpenTofu configuration must be valid before initialization so that
OpenTofu can determine which modules and providers need to be installed.`),
		NotEmpty: *problem.Error("invalid_option", "The working directory already contains files",
			"The -from-module option requires an empty directory into which a copy of \n"+notEmpty),
		RootFirst: true, Guesses: true, Lenient: true, Said: true,
	}},
}

const notEmpty = `the referenced module will be placed.

To initialize the configuration already in this working directory, omit the
-from-module option.`

// Options are the options of a command about the product.
type Options struct {
	With     string // the program of -with, or ""
	ReadOnly bool   // write nothing, not even the cache of programs' versions
}

// Choose returns the product with its version. It warns of a Terraform that is too old for what tfdeps installs.
func Choose(m *cli.Meta) (getproviders.Product, problem.List) {
	product, _, problems := ChooseWithOrigin(m, Options{})
	return product, problems
}

// ChooseWithOrigin is Choose for a command with options about the product, and returns where the version comes from.
func ChooseWithOrigin(m *cli.Meta, o Options) (chosen getproviders.Product, from Origin, problems problem.List) {
	chosen, err := choose(m, o.With)
	if err == nil {
		var version string
		version, from, err = findVersion(m, chosen, o.ReadOnly)
		chosen = settingsOf[chosen.Program].at(version)
		chosen.NeedsKeys, chosen.NeedsUnexpired = m.Env.Get(enforceVariable) == "true", m.Env.Get(expirationVariable) == "true"
	}
	if lock, refused := errors.AsType[refusedLock](err); refused {
		return chosen, from, lock.problems
	}
	if err != nil {
		return chosen, from, problem.Fail("invalid_variable", "Invalid product version", "%v", err)
	}
	if from.Kind == OldProgram {
		return chosen, from, problem.List{tooOld(from.Program+" is Terraform "+from.old, from.old, fmt.Sprintf(" This command does the work of Terraform %s in its place.", chosen.Version))}
	}
	if v, invalid := getproviders.ParseVersion(chosen.Version); invalid == nil && settingsOf[chosen.Program].isOld(v) {
		return chosen, from, problem.List{tooOld(fmt.Sprintf("This command does the work of Terraform %s", v), v.String(), "")}
	}
	if from.Kind == NoProgram {
		return chosen, from, missingProgram(m, chosen)
	}
	return chosen, from, nil
}

// missingProgram warns of a path variable that names no program, so that the version is a default.
func missingProgram(m *cli.Meta, product getproviders.Product) problem.List {
	variable := settingsOf[product.Program].path
	given := m.Env.Get(variable)
	if _, err := exec.LookPath(given); given == "" || err == nil {
		return nil
	}
	return problem.Warn("invalid_variable", "Invalid value of "+variable,
		"The variable %s names %s, which isn't a program that can be run. Version %s of %s is assumed.\n\nCorrect the variable, or unset it.",
		variable, given, product.Version, product.Name)
}

// tooOld warns of a Terraform that can't find the installed packages.
func tooOld(is, version, instead string) *problem.Problem {
	return problem.Warningf("terraform_too_old", "Terraform is too old",
		"%s. Before 0.14 Terraform has no lock file, and looks for providers in .terraform/plugins: Terraform %s can't use what tfdeps installs.%s\n\n"+
			"Install a newer Terraform, or name one with %s.", is, version, instead, terraformPathVariable)
}

// Unversioned returns the product for commands that don't depend on its version. It ignores
// an invalid variable, which other commands report.
func Unversioned(m *cli.Meta) getproviders.Product {
	product, _ := choose(m, "")
	return product
}

// choose returns the product without a version: that of the program of -with,
// else of the program that tfdeps was called as, else the one of the
// variable, else Terraform. It ignores the files in the directory, because a module for both products may
// have files that only one of them reads.
func choose(m *cli.Meta, with string) (getproviders.Product, error) {
	name := with
	if name == "" && m.StandIn != nil {
		name = m.StandIn.Name
	}
	if product, ok := ofProgram(name); ok {
		return product, nil
	}
	return ByVariable(m.Env)
}

// ByVariable returns the product that TFDEPS_PRODUCT names, or its older name
// TFDEPS_ENGINE, or Terraform if neither is set or with an error.
func ByVariable(env cli.Environment) (getproviders.Product, error) {
	variable := productVariable
	if env.Get(variable) == "" && env.Get(productAlias) != "" {
		variable = productAlias
	}
	given := cmp.Or(env.Get(variable), "terraform")
	if s, ok := settingsOf[given]; ok {
		return s.at(""), nil
	}
	return getproviders.Terraform(""), fmt.Errorf("the value of %s is %q, and has to be \"terraform\" or \"tofu\"", variable, given)
}

// ofProgram returns the product that a program's name begins with, as
// "tofu1.12.6" does.
func ofProgram(name string) (getproviders.Product, bool) {
	for program, s := range settingsOf {
		if strings.HasPrefix(name, program) {
			return s.at(""), true
		}
	}
	return getproviders.Product{}, false
}

// StandInFor parses a program's name: that of a product, with or without a version,
// or that of a program with a wrapper ("terraform-bin"). Version managers
// put "-", "_" or "@" before the version, and "v". It returns nil for other names, such as "terraform-docs".
func StandInFor(name string) *cli.StandIn {
	if ext := filepath.Ext(name); strings.EqualFold(ext, ".exe") {
		name = strings.TrimSuffix(name, ext)
	}
	product, ok := ofProgram(name)
	if !ok {
		return nil
	}
	version := strings.TrimPrefix(name, product.Program)
	if version == "" || version == wrappedSuffix {
		return &cli.StandIn{Name: name}
	}
	if strings.ContainsRune("-_@", rune(version[0])) {
		version = strings.TrimPrefix(version[1:], "v")
	}
	v, err := getproviders.ParseVersion(version)
	if err != nil {
		return nil
	}
	return &cli.StandIn{Name: name, Version: v.String()}
}

// enforceVariable with the value "true" makes OpenTofu refuse packages without a
// signature.
const enforceVariable = "OPENTOFU_ENFORCE_GPG_VALIDATION"

// expirationVariable with the value "true" makes OpenTofu refuse expired keys and signatures.
const expirationVariable = "OPENTOFU_ENFORCE_GPG_EXPIRATION"
