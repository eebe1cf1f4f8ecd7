// Package state reads which providers a state names. It reads the state once, as a stream, though
// the format version may come last.
package state

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"strings"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// Package load exports these as ErrStateVersion and ErrStateEncrypted.
var (
	ErrVersion   = errors.New("unsupported state file version")
	ErrEncrypted = errors.New("the state is encrypted, which only OpenTofu can read")
)

// Addresses returns the distinct "provider" properties of a state's resources, sorted. With instanceProviders it includes those of
// their instances, which OpenTofu writes for providers with for_each. An empty state has none; one with only white space is an error.
func Addresses(r io.Reader, instanceProviders bool) ([]string, error) {
	buffered := bufio.NewReader(r)
	if _, err := buffered.Peek(1); err == io.EOF {
		return nil, nil
	}
	s := reader{
		dec: json.NewDecoder(buffered), addresses: map[string]bool{}, former: map[string]bool{}, resourceAddresses: map[string]bool{},
		instanceProviders: instanceProviders, seed: maphash.MakeSeed(),
	}
	s.dec.UseNumber()
	if first, err := s.dec.Token(); err == io.EOF {
		return nil, fmt.Errorf("this is not a JSON object: %w", io.ErrUnexpectedEOF)
	} else if err != nil {
		return nil, err
	} else if first != json.Delim('{') {
		return nil, errors.New("this is not a JSON object")
	}
	if err := s.properties(s.topLevel); err != nil {
		return nil, err
	}
	if _, err := s.dec.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	if s.encrypted {
		return nil, ErrEncrypted
	}
	switch s.version {
	case "":
		return nil, fmt.Errorf("%w: the file has none", ErrVersion)
	case stateVersion:
		if s.isRepeated() {
			s.refuse("an instance of a resource is there more than once")
		}
		return slices.Sorted(maps.Keys(s.addresses)), s.invalid
	}
	return slices.Sorted(maps.Keys(s.former)), nil
}

// stateVersion is the format that Terraform has written since 0.12, and every OpenTofu.
const stateVersion = "4"

// reader reads a state. Its format version may come last.
type reader struct {
	dec       *json.Decoder
	version   string          // "" until it is read
	addresses map[string]bool // providers in "resources"
	former    map[string]bool // providers in "modules", in older formats
	invalid   error           // why the current format doesn't allow it
	encrypted bool            // OpenTofu has encrypted it

	instanceProviders bool            // instances may have their own providers
	seed              maphash.Seed    // of the sums
	seen              []uint64        // sums of instances
	resourceAddresses map[string]bool // whether a text is the address of a resource
}

// topLevel reads a property of the state.
func (s *reader) topLevel(name string) error {
	switch strings.ToLower(name) {
	case "version":
		return s.readVersion()
	case "encryption_version":
		var given any
		err := s.decode(name, &given)
		text, _ := given.(string)
		s.encrypted = text != ""
		return err
	case "resources":
		return s.resources()
	case "outputs":
		return s.outputs()
	case "lineage":
		return s.decode(name, new(string))
	case "modules":
		return s.formerModules()
	case "terraform_version":
		var text string
		err := s.decode(name, &text)
		if _, wrong := version.NewVersion(text); text != "" && wrong != nil {
			s.refuse("its \"terraform_version\" %q is not a version", text)
		}
		return err
	case "serial":
		return s.decode(name, new(uint64))
	}
	return s.skip()
}

// readVersion reads the format version, which must be a known one.
func (s *reader) readVersion() error {
	token, err := s.dec.Token()
	if err != nil {
		return unexpectedEOF(err)
	}
	switch version, ok := token.(json.Number); {
	case !ok || strings.Trim(version.String(), "0123456789") != "":
		return fmt.Errorf("%w: it is not a positive whole number", ErrVersion)
	case len(version) == 1 && "1" <= version && version <= stateVersion:
		s.version = version.String()
		return nil
	default:
		return fmt.Errorf("%w %s: the newest that is known is %s", ErrVersion, version, stateVersion)
	}
}

// resources reads the list of resources, which may be null.
func (s *reader) resources() error {
	return s.list(`"resources"`, func() error {
		var found resource
		if err := s.object(`something in "resources"`, func(name string) error { return s.property(&found, name) }); err != nil {
			return err
		}
		switch {
		case found.mode != "managed" && found.mode != "data":
			s.refuse("it has a resource with the mode %q", found.mode)
		case found.module != "" && !isModulePath(found.module):
			s.refuse("it has a resource in %q, which is not a module", found.module)
		case found.provider == "" && found.inherits && s.instanceProviders:
			s.refuse("neither a resource nor its instance has a provider")
		}
		s.addresses[found.provider] = true
		s.count(found)
		return nil
	})
}

// resource has the properties of a resource that are read.
type resource struct {
	provider, mode, module, typ, name string
	instances                         []uint64 // of their keys
	inherits                          bool     // an instance has no provider of its own
}

// isModulePath reports whether text is the address of an instance of a module.
func isModulePath(text string) bool {
	steps, diags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
	rest, _ := static.SkipModules(steps)
	return len(rest) == 0 && !diags.HasErrors()
}

// property reads a property of a resource.
func (s *reader) property(r *resource, name string) error {
	var text *string
	switch strings.ToLower(name) {
	case "provider":
		text = &r.provider
	case "mode":
		text = &r.mode
	case "module":
		text = &r.module
	case "type":
		text = &r.typ
	case "name":
		text = &r.name
	case "instances":
		return s.instances(r)
	default:
		return s.skip()
	}
	token, err := s.dec.Token()
	if err != nil {
		return unexpectedEOF(err)
	}
	given, ok := token.(string)
	if !ok && token != nil {
		return fmt.Errorf("the %q of a resource is not a string", strings.ToLower(name))
	}
	*text = given
	return nil
}

// formerModules reads the resources by name in modules of older formats. Their providers have no
// source addresses.
func (s *reader) formerModules() error {
	return s.list(`"modules"`, func() error {
		return s.object(`something in "modules"`, func(name string) error {
			if !strings.EqualFold(name, "resources") {
				return s.skip()
			}
			return s.object(`"resources" of a module`, func(string) error { return s.formerResource() })
		})
	})
}

// formerResource reads one resource. Without a provider, its type implies one.
func (s *reader) formerResource() error {
	var found resource
	if err := s.object("a resource", func(name string) error { return s.property(&found, name) }); err != nil {
		return err
	}
	switch {
	case strings.Contains(found.provider, "provider."):
	case found.provider != "":
		found.provider = "provider." + found.provider
	default:
		name, _, _ := strings.Cut(found.typ, "_")
		found.provider = "provider." + name
	}
	s.former[found.provider] = true
	return nil
}
