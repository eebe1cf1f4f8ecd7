package configs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/configs/static"
	"github.com/tfdeps/tfdeps/getproviders"
)

// ErrStateVersion says that the format of a state file is older or newer than
// the one that Terraform writes since 0.12.
var ErrStateVersion = errors.New("unsupported state file version")

// StateRequirements reads a local state file and returns the providers of the
// resources in it, as [ReadStateRequirements] does. A missing file is no
// requirements. One that isn't regular is an error: a pipe would have to be
// waited for, and a device may have no end.
func StateRequirements(path string, product getproviders.Product) (getproviders.Requirements, error) {
	product = product.OrDefault()
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return getproviders.Requirements{}, nil
	case err != nil:
		return nil, fmt.Errorf("reading state: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("reading state: %s is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading state: %w", err)
	}
	defer file.Close()
	return ReadStateRequirements(file, path, product)
}

// ReadStateRequirements reads a state and returns the providers of the
// resources in it, without constraints, and with name as the file that says
// so. An empty state is no requirements. An error matches [ErrStateVersion] if
// the state is in another format.
//
// It is read as a stream: memory is needed for the largest string in it, not
// for the whole. Resources whose provider address can't be read are passed
// over, as Terraform does. A provider may have a legacy address, if the
// state was last written by Terraform 0.12.
func ReadStateRequirements(r io.Reader, name string, product getproviders.Product) (getproviders.Requirements, error) {
	product = product.OrDefault()
	addresses, err := stateAddresses(r)
	if err != nil {
		return nil, fmt.Errorf("reading state %s: %w", name, err)
	}
	reqs := getproviders.Requirements{}
	for _, address := range addresses {
		provider, ok := stateProvider(address, product)
		if _, known := reqs[provider]; ok && !known {
			reqs.Add(provider, getproviders.Requirement{Pos: getproviders.Pos{File: name}})
		}
	}
	return reqs, nil
}

// stateAddresses returns the different "provider" properties of a state's
// resources, sorted.
func stateAddresses(r io.Reader) ([]string, error) {
	s := stateReader{json.NewDecoder(r)}
	s.dec.UseNumber()
	if first, err := s.dec.Token(); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, err
	} else if first != json.Delim('{') {
		return nil, errors.New("this is not a JSON object")
	}
	addresses := map[string]bool{}
	versionSeen := false
	err := s.properties(func(name string) error {
		switch {
		case strings.EqualFold(name, "version"):
			versionSeen = true
			return s.version()
		case strings.EqualFold(name, "resources"):
			return s.resources(addresses)
		}
		return s.skip()
	})
	if err != nil {
		return nil, err
	}
	if _, err := s.dec.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	if !versionSeen {
		return nil, fmt.Errorf("%w: there is none in the file", ErrStateVersion)
	}
	return slices.Sorted(maps.Keys(addresses)), nil
}

// stateVersion is the format that Terraform writes since 0.12, and every
// OpenTofu.
const stateVersion = "4"

// stateReader walks through a state.
type stateReader struct{ dec *json.Decoder }

// properties calls visit with the name of each property of an object whose
// opening brace was read. The visitor has to read the value.
func (s stateReader) properties(visit func(name string) error) error {
	for s.dec.More() {
		token, err := s.dec.Token()
		if err != nil {
			return unexpectedEOF(err)
		}
		name, _ := token.(string) // the decoder accepts nothing else here
		if err := visit(name); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return unexpectedEOF(err)
}

// version reads the format's version, which has to be the known one.
func (s stateReader) version() error {
	token, err := s.dec.Token()
	if err != nil {
		return unexpectedEOF(err)
	}
	switch version, ok := token.(json.Number); {
	case !ok || strings.Trim(version.String(), "0123456789") != "":
		return fmt.Errorf("%w: it is not a positive whole number", ErrStateVersion)
	case version == stateVersion:
		return nil
	case len(version) == 1 && version < stateVersion:
		return fmt.Errorf("%w %s: upgrade the state first, with terraform apply of Terraform 0.12 and then 0.13", ErrStateVersion, version)
	default:
		return fmt.Errorf("%w %s: only %s is known", ErrStateVersion, version, stateVersion)
	}
}

// resources reads the list of resources, which may be null.
func (s stateReader) resources(addresses map[string]bool) error {
	switch token, err := s.dec.Token(); {
	case err != nil:
		return unexpectedEOF(err)
	case token == nil:
		return nil
	case token != json.Delim('['):
		return errors.New(`"resources" is not a list`)
	}
	for s.dec.More() {
		if token, err := s.dec.Token(); err != nil {
			return unexpectedEOF(err)
		} else if token != json.Delim('{') {
			return errors.New("a resource is not an object")
		}
		if err := s.properties(func(name string) error { return s.property(name, addresses) }); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return unexpectedEOF(err)
}

// property reads a property of a resource.
func (s stateReader) property(name string, addresses map[string]bool) error {
	if !strings.EqualFold(name, "provider") {
		return s.skip()
	}
	token, err := s.dec.Token()
	if err != nil {
		return unexpectedEOF(err)
	}
	address, ok := token.(string)
	if !ok && token != nil {
		return errors.New(`the "provider" of a resource is not a string`)
	}
	addresses[address] = true
	return nil
}

// skip reads a value of any kind.
func (s stateReader) skip() error {
	for depth := 0; ; {
		token, err := s.dec.Token()
		if err != nil {
			return unexpectedEOF(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// unexpectedEOF is for the places where the file mustn't end.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

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
	for static.StepName(steps, 0) == "module" && static.StepName(steps, 1) != "" {
		steps = steps[2:]
	}
	if static.StepName(steps, 0) != "provider" || len(steps) < 2 || len(steps) > 3 {
		return getproviders.Provider{}, false
	}
	if len(steps) == 3 && static.StepName(steps, 2) == "" {
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

// InheritState returns what a state requires, with the providers of the
// registry of the product's predecessor replaced by those of the same names in the
// product's own: their resources meant the default registry. Those that the
// configuration requires as they are stay.
func InheritState(fromState, fromConfig getproviders.Requirements, product getproviders.Product) getproviders.Requirements {
	product = product.OrDefault()
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
