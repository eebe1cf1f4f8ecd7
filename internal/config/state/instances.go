package state

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// instance has the checked properties of an instance. Its attributes, which are nearly all of a state, are
// skipped.
type instance struct {
	Provider            any
	Key                 any `json:"index_key"`
	Deposed             string
	Status              string
	SchemaVersion       uint64 `json:"schema_version"`
	IdentityVersion     uint64 `json:"identity_schema_version"`
	CreateBeforeDestroy bool   `json:"create_before_destroy"`
	Private             []byte
	Flat                map[string]string `json:"attributes_flat"`
	Sensitive           json.RawMessage   `json:"sensitive_attributes"`
	Dependencies        []string
}

// step is a step of an attribute's path.
type step struct {
	Type  string
	Value json.RawMessage
}

// instances reads the instances of a resource.
func (s *reader) instances(r *resource) error {
	return s.list(`"instances"`, func() error {
		var found instance
		if err := s.decode("an instance", &found); err != nil {
			return err
		}
		s.checkInstance(found)
		switch provider, isText := found.Provider.(string); {
		case !s.instanceProviders, found.Provider == nil, isText && provider == "":
			r.inherits = true
		case isText:
			s.addresses[provider] = true
		default:
			s.refuse("the \"provider\" of an instance is %v, and has to be a text", found.Provider)
		}
		r.instances = append(r.instances, maphash.Comparable(s.seed, [2]string{s.indexKey(found.Key), found.Deposed}))
		return nil
	})
}

// indexKey returns the key, a number or a string, as text. Terraform uses the integer part of a
// number.
func (s *reader) indexKey(given any) string {
	switch key := given.(type) {
	case nil:
		return ""
	case string:
		return "text " + key
	case json.Number:
		number, err := key.Float64()
		if err != nil {
			s.refuse("its \"index_key\" is %s", key)
		}
		return fmt.Sprint("number ", int(number))
	default:
		s.refuse("its \"index_key\" is %v, and has to be a number or a text", key)
		return ""
	}
}

// checkInstance checks what the Go types of the properties don't.
func (s *reader) checkInstance(found instance) {
	if n := len(found.Deposed); n != 0 && n != 8 {
		s.refuse("the deposed key %q has not eight characters", found.Deposed)
	}
	if found.Status != "" && found.Status != "tainted" {
		s.refuse("it has an instance with the status %q", found.Status)
	}
	for _, address := range found.Dependencies {
		if !s.isResource(address) {
			s.refuse("it has an instance that depends on %q, which is not a resource", address)
		}
	}
	var paths [][]step // decoded separately: a repeated property would merge with the earlier one
	if found.Sensitive != nil && json.Unmarshal(found.Sensitive, &paths) != nil {
		s.refuse("the \"sensitive_attributes\" of an instance can't be %.100s", found.Sensitive)
	}
	for _, path := range paths {
		for _, step := range path {
			name := ""
			if step.Type != "index" && (step.Type != "get_attr" || json.Unmarshal(step.Value, &name) != nil) {
				s.refuse("the path of a sensitive attribute has a step of the type %q with the value %s", step.Type, step.Value)
			}
		}
	}
}

// decode reads a value whose type decides whether the state can be used.
func (s *reader) decode(name string, into any) error {
	err := s.dec.Decode(into)
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		s.refuse("%q can't be a %s", cmp.Or(mistyped.Field, name), mistyped.Value)
		return nil
	} else if text, ok := errors.AsType[base64.CorruptInputError](err); ok {
		s.refuse("\"private\" is not base64: %w", text)
		return nil
	}
	return unexpectedEOF(err)
}

// refuse records the first reason why the state is invalid in the current format.
func (s *reader) refuse(format string, args ...any) {
	if s.invalid == nil {
		s.invalid = fmt.Errorf(format, args...)
	}
}

// count records the instances of a resource. A resource may occur several times with different
// instances.
func (s *reader) count(r resource) {
	address := maphash.Comparable(s.seed, [4]string{r.module, r.mode, r.typ, r.name})
	for _, sum := range r.instances {
		s.seen = append(s.seen, maphash.Comparable(s.seed, [2]uint64{address, sum}))
	}
}

// isRepeated reports whether an instance occurred twice.
func (s *reader) isRepeated() bool {
	slices.Sort(s.seen)
	for i := 1; i < len(s.seen); i++ {
		if s.seen[i] == s.seen[i-1] {
			return true
		}
	}
	return false
}

// maxResources is how many addresses of resources are cached, because many instances depend on the same ones.
const maxResources = 10_000

// isResource reports whether text is the address of a resource: modules, then a type and a name.
func (s *reader) isResource(text string) bool {
	if is, known := s.resourceAddresses[text]; known {
		return is
	}
	steps, diags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
	steps, _ = static.SkipModules(steps)
	if mode := static.StepName(steps, 0); len(steps) > 2 && slices.Contains([]string{"data", "resource", "ephemeral"}, mode) {
		steps = steps[1:]
	}
	is := !diags.HasErrors() && len(steps) == 2 && static.StepName(steps, 0) != "" && static.StepName(steps, 1) != ""
	if len(s.resourceAddresses) < maxResources {
		s.resourceAddresses[text] = is
	}
	return is
}

// outputs checks the outputs of the root module: each has a value of its type.
func (s *reader) outputs() error {
	return s.object(`"outputs"`, func(name string) error {
		var output struct {
			Type, Value json.RawMessage
			Sensitive   bool
		}
		if err := s.decode("an output", &output); err != nil {
			return err
		}
		typ, err := ctyjson.UnmarshalType(output.Type)
		if err != nil {
			s.refuse("the type of the output %q is wrong: %w", name, err)
		} else if _, err := ctyjson.Unmarshal(output.Value, typ); err != nil {
			s.refuse("the value of the output %q doesn't have its type: %w", name, err)
		}
		return nil
	})
}

// properties calls visit with the name of each property of an object after its opening brace. visit
// must read the value.
func (s *reader) properties(visit func(name string) error) error {
	return s.each(func() error {
		token, err := s.dec.Token()
		if err != nil {
			return unexpectedEOF(err)
		}
		name, _ := token.(string) // the decoder accepts nothing else here
		return visit(name)
	})
}

// each calls visit until the end of the object or list.
func (s *reader) each(visit func() error) error {
	for s.dec.More() {
		if err := visit(); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return unexpectedEOF(err)
}

// list reads a list or null, and calls visit for each element, which must read it.
func (s *reader) list(what string, visit func() error) error {
	if there, err := s.open(what, "a list", '['); err != nil || !there {
		return err
	}
	return s.each(visit)
}

// object reads an object or null, and calls visit for each property.
func (s *reader) object(what string, visit func(name string) error) error {
	if there, err := s.open(what, "an object", '{'); err != nil || !there {
		return err
	}
	return s.properties(visit)
}

// open reads the beginning of a list or an object; false for null.
func (s *reader) open(what, kind string, begin json.Delim) (there bool, err error) {
	token, err := s.dec.Token()
	if err == nil && token != nil && token != begin {
		err = fmt.Errorf("%s is not %s", what, kind)
	}
	return token != nil, unexpectedEOF(err)
}

// skip reads a value of any kind.
func (s *reader) skip() error {
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

// unexpectedEOF converts io.EOF inside a value.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
