package load

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/files"
	"github.com/tfdeps/tfdeps/internal/config/state"
	"github.com/tfdeps/tfdeps/internal/config/static"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// ErrStateVersion says that a state file has an unknown format version: they are numbered from 1 to
// 4, and Terraform writes 4 since 0.12.
var ErrStateVersion = state.ErrVersion

// ErrStateEncrypted says that OpenTofu has encrypted a state, so that it can't be read. "tofu state
// pull" prints its content.
var ErrStateEncrypted = state.ErrEncrypted

// StateRequirements reads a local state file in fsys, as in [Options.FS], and returns its providers, as
// [ReadStateRequirements] does. A missing file has no requirements. A file that isn't regular is an error: a
// pipe might block, and a device might have no end.
func StateRequirements(fsys fs.FS, path string, product getproviders.Product) (getproviders.Requirements, error) {
	file, err := files.System{FS: fsys}.OpenRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return getproviders.Requirements{}, nil
	case err != nil:
		return nil, fmt.Errorf("reading state: %w", err)
	}
	defer file.Close()
	return ReadStateRequirements(file, path, product)
}

// ReadStateRequirements reads a state and returns the providers of its resources, without
// constraints, with name as the file. An empty state has no requirements. An error matches
// [ErrStateVersion] if the state has an unknown format.
//
// It reads a stream, with memory for the largest instance, not for the whole state. It skips
// resources with an invalid provider address, as Terraform does; OpenTofu refuses the state. A
// provider may have a legacy address, if Terraform 0.12 wrote the state.
func ReadStateRequirements(r io.Reader, name string, given getproviders.Product) (getproviders.Requirements, error) {
	product := dialect.Of(given)
	addresses, err := state.Addresses(r, product.Understands("for_each"))
	if err != nil {
		return nil, fmt.Errorf("reading state %s: %w", name, err)
	}
	reqs := getproviders.Requirements{}
	for _, address := range addresses {
		provider, ok := stateProvider(address, product)
		if !ok && address != "" && !product.Understands("unreadable_addresses") {
			return nil, fmt.Errorf("reading state %s: a resource has the provider %q, which is not the address of one", name, address)
		}
		if _, known := reqs[provider]; ok && !known {
			reqs.Add(provider, getproviders.Requirement{Pos: getproviders.Pos{File: name}})
		}
	}
	return reqs, nil
}

// stateProvider reads the address of a provider configuration in a state, such as
//
//	module.network.provider["registry.terraform.io/hashicorp/aws"].east
//
// or, from Terraform 0.12, provider.aws. ok is false for other texts.
func stateProvider(address string, product dialect.Dialect) (provider getproviders.Provider, ok bool) {
	steps, diags := hclsyntax.ParseTraversalAbs([]byte(address), "", hcl.InitialPos)
	if diags.HasErrors() {
		return provider, false
	}
	steps, instances := static.SkipModules(steps)
	if len(steps) == 4 && product.Understands("for_each") { // the key of a provider with for_each
		steps = steps[:3]
	}
	if instances != nil || static.StepName(steps, 0) != "provider" || len(steps) < 2 || len(steps) > 3 {
		return provider, false
	}
	if len(steps) == 3 && static.StepName(steps, 2) == "" {
		return provider, false
	}
	var err error
	switch step := steps[1].(type) {
	case hcl.TraverseIndex:
		if step.Key.Type() != cty.String {
			return provider, false
		}
		provider, err = product.ParseProvider(step.Key.AsString())
	case hcl.TraverseAttr:
		provider, err = legacyProvider(step.Name, product)
	default:
		return provider, false
	}
	return provider, err == nil
}

// legacyProvider returns the provider that a name meant before source addresses.
func legacyProvider(name string, product dialect.Dialect) (getproviders.Provider, error) {
	provider, err := product.ImpliedProvider(name)
	if err != nil || provider.IsBuiltIn() {
		return provider, err
	}
	return product.ParseProvider("-/" + provider.Type)
}

// InheritState returns a state's requirements with providers of the predecessor's registry replaced
// by those of the same names in the product's registry: their resources meant the default registry.
// It keeps the addresses that the configuration requires.
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
