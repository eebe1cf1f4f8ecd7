package backend

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/getproviders"
)

// schemas is the table of types, by name. A type of a value is a word such as
// "string" or "list(string)", with an exclamation mark if the argument is
// required, or an object with such words.
//
//go:embed schemas.json
var schemas []byte

// openTofuSchemas is what OpenTofu 1.12 has in other ways than the table, whose
// younger parts it doesn't have either.
//
//go:embed schemas_opentofu.json
var openTofuSchemas []byte

// openTofuBase is the last version of Terraform that OpenTofu took over from.
const openTofuBase = "1.5.7"

// difference is what a product has in another way: further arguments and blocks,
// or others of the same names, and arguments that it lacks.
type difference struct {
	Without    []string
	Attributes map[string]valueType
	Blocks     map[string]*schema
}

// schema is what the body of a block may hold.
type schema struct {
	Since      string            // the first version that has the type
	Younger    map[string]string // arguments, to the first version that has them
	Elsewhere  map[string]string // required arguments, to the variable that may be set instead
	Attributes map[string]valueType
	Blocks     map[string]*schema
	Set        bool // a block may be repeated
	List       bool // likewise, and their order counts
}

// valueType is the type of an argument.
type valueType struct {
	cty      cty.Type
	required bool
}

// UnmarshalJSON reads a word or an object of words.
func (t *valueType) UnmarshalJSON(src []byte) error {
	var word string
	if err := json.Unmarshal(src, &word); err == nil {
		return t.parse(word)
	}
	var nested map[string]valueType
	if err := json.Unmarshal(src, &nested); err != nil {
		return err
	}
	types := map[string]cty.Type{}
	var optional []string
	for name, attr := range nested {
		types[name] = attr.cty
		if !attr.required {
			optional = append(optional, name)
		}
	}
	t.cty = cty.ObjectWithOptionalAttrs(types, optional)
	return nil
}

func (t *valueType) parse(word string) error {
	if last := len(word) - 1; last > 0 && word[last] == '!' {
		word, t.required = word[:last], true
	}
	types := map[string]cty.Type{
		"string": cty.String, "number": cty.Number, "bool": cty.Bool, "any": cty.DynamicPseudoType,
		"list(string)": cty.List(cty.String), "set(string)": cty.Set(cty.String), "map(string)": cty.Map(cty.String),
	}
	var known bool
	if t.cty, known = types[word]; !known {
		return fmt.Errorf("no type of a value is called %q", word)
	}
	return nil
}

// table returns the types of backends that the product has.
func table(product getproviders.Product) (map[string]*schema, error) {
	if product.Predecessor != nil {
		return differentTable(getproviders.Terraform(openTofuBase), openTofuSchemas)
	}
	var types map[string]*schema
	if err := json.Unmarshal(schemas, &types); err != nil {
		return nil, err
	}
	version, err := getproviders.ParseVersion(product.Version)
	if err != nil {
		return nil, err
	}
	older := func(since string) bool {
		return since != "" && version.Compare(getproviders.MustParseVersion(since)) < 0
	}
	maps.DeleteFunc(types, func(_ string, s *schema) bool { return older(s.Since) })
	for _, s := range types {
		maps.DeleteFunc(s.Attributes, func(name string, _ valueType) bool { return older(s.Younger[name]) })
	}
	return types, nil
}

// differentTable returns the types that are those of a product but for some
// differences.
func differentTable(base getproviders.Product, differences []byte) (map[string]*schema, error) {
	types, err := table(base)
	if err != nil {
		return nil, err
	}
	var different map[string]difference
	if err := json.Unmarshal(differences, &different); err != nil {
		return nil, err
	}
	for name, d := range different {
		for _, attr := range d.Without {
			delete(types[name].Attributes, attr)
		}
		maps.Copy(types[name].Attributes, d.Attributes)
		maps.Copy(types[name].Blocks, d.Blocks)
	}
	return types, nil
}

// names lists the types that a backend block can have.
func names(types map[string]*schema) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(types)), func(name string) bool { return name == Cloud })
}

// spec says how a body is decoded. No argument is required yet: some may come
// by other ways.
func (s *schema) spec() hcldec.ObjectSpec {
	spec := hcldec.ObjectSpec{}
	for name, attr := range s.Attributes {
		spec[name] = &hcldec.AttrSpec{Name: name, Type: attr.cty}
	}
	for name, nested := range s.Blocks {
		switch {
		case nested.Set:
			spec[name] = &hcldec.BlockSetSpec{TypeName: name, Nested: nested.spec()}
		case nested.List:
			spec[name] = &hcldec.BlockListSpec{TypeName: name, Nested: nested.spec()}
		default:
			spec[name] = &hcldec.BlockSpec{TypeName: name, Nested: nested.spec()}
		}
	}
	return spec
}

// valueType is the type of the value that a body is decoded to.
func (s *schema) valueType() cty.Type {
	return hcldec.ImpliedType(s.spec()).WithoutOptionalAttributesDeep()
}
