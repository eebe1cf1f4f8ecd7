package state

import (
	"encoding/json"
	"fmt"
	"strings"

	ctyjson "github.com/zclconf/go-cty/cty/json"
)

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
