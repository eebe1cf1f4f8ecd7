package backend

import (
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Change is what has become of a backend since its record was written.
type Change int

const (
	// None: there was no backend, and there is none.
	None Change = iota
	// Unchanged: the record holds for this configuration.
	Unchanged
	// Rehashed: it has the right values and another number; it should be
	// written anew, and state stays where it is.
	Rehashed
	// Added: there is a backend for the first time.
	Added
	// Changed: the backend has the same type, and other values.
	Changed
	// Replaced: the backend has another type.
	Replaced
	// Removed: there was a backend, and now there is none.
	Removed
)

// Compare says what a configuration, nil if it has no such block, is to a
// record, nil if there is none. With overridden, -backend-config was given, so
// that the values count even where the block is the same; a configuration
// without values is another one then.
func (r *Record) Compare(c *Config, overridden bool) Change {
	recorded := r != nil && r.Type != ""
	switch {
	case !recorded && c == nil:
		return None
	case !recorded:
		return Added
	case c == nil:
		return Removed
	case r.Type != c.Type:
		return Replaced
	case r.Hash == c.hash && !overridden:
		return Unchanged
	case !r.holds(c):
		return Changed
	case r.Hash != c.hash:
		return Rehashed
	default:
		return Unchanged
	}
}

// holds reports whether the values of the record are those of the configuration.
func (r *Record) holds(c *Config) bool {
	value, err := ctyjson.Unmarshal(r.config, c.as)
	if err != nil || c.value == cty.NilVal {
		return false
	}
	return value.RawEquals(c.value)
}

// Text returns the value of an argument that is a string; "" if it has none.
func (r *Record) Text(name string) string {
	as, err := ctyjson.ImpliedType(r.config)
	if err != nil || !as.IsObjectType() {
		return ""
	}
	value, err := ctyjson.Unmarshal(r.config, as)
	if err != nil || value.Type() == cty.NilType {
		return ""
	}
	return textOf(value, name)
}
