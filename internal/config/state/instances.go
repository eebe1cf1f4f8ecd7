package state

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// An instance's attributes are nearly all of a state, and are passed over. What is left of it is small.

// instance is what makes an instance different from the others of its resource.
type instance struct{ key, deposed string }

// instances reads the instances of a resource.
func (s *reader) instances(r *resource) error {
	return s.list(`"instances"`, func() error {
		var found instance
		provider := ""
		err := s.properties(func(name string) error {
			switch strings.ToLower(name) {
			case "provider":
				if !s.instanceProviders {
					return s.skip()
				}
				return s.decode(name, &provider)
			case "index_key":
				return s.indexKey(&found)
			case "deposed":
				return s.decode(name, &found.deposed)
			}
			return s.instanceProperty(name)
		})
		if err != nil {
			return err
		}
		if n := len(found.deposed); n != 0 && n != 8 {
			s.refuse(fmt.Errorf("the deposed key %q has not eight characters", found.deposed))
		}
		if provider != "" {
			s.addresses[provider] = true
		} else {
			r.inherits = true
		}
		r.instances = append(r.instances, maphash.Comparable(s.seed, found))
		return nil
	})
}

// indexKey reads a number or a text. Terraform takes the whole part of a number.
func (s *reader) indexKey(found *instance) error {
	var key any
	if err := s.decode("index_key", &key); err != nil {
		return err
	}
	switch key := key.(type) {
	case nil:
	case string:
		found.key = "text " + key
	case json.Number:
		number, err := key.Float64()
		if err != nil {
			s.refuse(fmt.Errorf("its \"index_key\" is %s", key))
		}
		found.key = fmt.Sprint("number ", int(number))
	default:
		s.refuse(fmt.Errorf("its \"index_key\" is %v, and has to be a number or a text", key))
	}
	return nil
}

// instanceProperty reads a property that has only to be of its type.
func (s *reader) instanceProperty(name string) error {
	switch strings.ToLower(name) {
	case "schema_version", "identity_schema_version":
		return s.decode(name, new(uint64))
	case "create_before_destroy":
		return s.decode(name, new(bool))
	case "private":
		return s.decode(name, new([]byte))
	case "status":
		var status string
		if err := s.decode(name, &status); err != nil {
			return err
		}
		if status != "" && status != "tainted" {
			s.refuse(fmt.Errorf("it has an instance with the status %q", status))
		}
		return nil
	case "sensitive_attributes":
		return s.sensitiveAttributes()
	case "dependencies":
		var addresses []string
		if err := s.decode(name, &addresses); err != nil {
			return err
		}
		for _, address := range addresses {
			if !s.isResource(address) {
				s.refuse(fmt.Errorf("it has an instance that depends on %q, which is no resource", address))
			}
		}
		return nil
	}
	return s.skip()
}

func (s *reader) sensitiveAttributes() error {
	var paths [][]struct {
		Type  string
		Value json.RawMessage
	}
	if err := s.decode("sensitive_attributes", &paths); err != nil {
		return err
	}
	for _, path := range paths {
		for _, step := range path {
			name := ""
			if step.Type != "index" && (step.Type != "get_attr" || json.Unmarshal(step.Value, &name) != nil) {
				s.refuse(fmt.Errorf("the path of a sensitive attribute has a step of the type %q with the value %s", step.Type, step.Value))
			}
		}
	}
	return nil
}

// decode reads a value whose type decides whether the state can be used.
func (s *reader) decode(name string, into any) error {
	err := s.dec.Decode(into)
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		s.refuse(fmt.Errorf("%q can't be a %s", name, mistyped.Value))
		return nil
	} else if text, ok := errors.AsType[base64.CorruptInputError](err); ok {
		s.refuse(fmt.Errorf("%q is no base64: %w", name, text))
		return nil
	}
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// refuse keeps the first reason for which the present format doesn't allow the state.
func (s *reader) refuse(reason error) {
	if s.invalid == nil {
		s.invalid = reason
	}
}

// count notes the instances of a resource. A resource may be there more than once, with other instances.
func (s *reader) count(r resource) {
	address := maphash.Comparable(s.seed, [4]string{r.module, r.mode, r.typ, r.name})
	for _, sum := range r.instances {
		s.seen = append(s.seen, maphash.Comparable(s.seed, [2]uint64{address, sum}))
	}
}

// isRepeated reports whether an instance was there twice.
func (s *reader) isRepeated() bool {
	slices.Sort(s.seen)
	for i := 1; i < len(s.seen); i++ {
		if s.seen[i] == s.seen[i-1] {
			return true
		}
	}
	return false
}

// maxResources is how many addresses of resources are remembered, because the same ones come again and again.
const maxResources = 10_000

// isResource reports whether text is the address of a resource: modules, then a type and a name.
func (s *reader) isResource(text string) bool {
	if is, known := s.resourceAddresses[text]; known {
		return is
	}
	steps, diags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
	for static.StepName(steps, 0) == "module" && static.StepName(steps, 1) != "" {
		steps = static.SkipKey(steps[2:])
	}
	if mode := static.StepName(steps, 0); len(steps) > 2 && slices.Contains([]string{"data", "resource", "ephemeral"}, mode) {
		steps = steps[1:]
	}
	is := !diags.HasErrors() && len(steps) == 2 && static.StepName(steps, 0) != "" && static.StepName(steps, 1) != ""
	if len(s.resourceAddresses) < maxResources {
		s.resourceAddresses[text] = is
	}
	return is
}

// outputs reads the outputs of the root module: each has a value of the type that stands beside it.
func (s *reader) outputs() error {
	return s.object(`"outputs"`, func(output string) error {
		var typ, value json.RawMessage
		err := s.object("an output", func(name string) error {
			switch strings.ToLower(name) {
			case "type":
				return s.decode(name, &typ)
			case "value":
				return s.decode(name, &value)
			case "sensitive":
				return s.decode(name, new(bool))
			}
			return s.skip()
		})
		if err != nil {
			return err
		}
		t, err := ctyjson.UnmarshalType(typ)
		if err != nil {
			s.refuse(fmt.Errorf("the type of the output %q is wrong: %w", output, err))
		} else if _, err := ctyjson.Unmarshal(value, t); err != nil {
			s.refuse(fmt.Errorf("the value of the output %q doesn't have its type: %w", output, err))
		}
		return nil
	})
}
