package backend

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/load"
)

// Cloud is the backend type of a cloud block.
const Cloud = "cloud"

// Config is a block combined with -backend-config. Make one with [Decode]; it isn't changed
// afterwards.
type Config struct {
	Type string

	hash  uint64
	value cty.Value // cty.NilVal if it can't be used
	as    cty.Type
}

// Options are the parameters of Decode.
type Options struct {
	// Product has the table of backend types.
	Product getproviders.Product

	// Overrides are the values of -backend-config, in order: file names and pairs "name=value". A
	// single empty value means none.
	Overrides []string

	// Getenv returns an environment variable, "" if it isn't set: some variables replace a required
	// argument. nil means that none is set.
	Getenv func(name string) string
}

// Decode reads a block. Diagnostics have positions only in the configuration; values from Overrides may be
// secret, and are never quoted. After errors the Config has no values, and is only for [Record.Compare]: a
// block that needs -backend-config is valid without it if it was initialized with it. The Config is nil if
// the type doesn't exist; that is only a warning if the product is newer than the table of types.
//
// Decode reads no files except those that overrides and values name, relative to the current directory.
func Decode(ctx context.Context, block load.Backend, opts Options) (*Config, hcl.Diagnostics) {
	types, err := table(opts.Product)
	if err != nil {
		return nil, hcl.Diagnostics{diagnostic.Error(block.Range, "Unknown types of backends", "%v", err)}
	}
	schema := types[block.Type]
	if schema == nil {
		return nil, hcl.Diagnostics{unsupported(block, types, opts.Product)}
	}
	if block.Body == nil {
		block.Body = hcl.EmptyBody()
	}
	config := &Config{Type: block.Type, hash: hash(block, schema), as: schema.valueType()}
	content, diags, unfit := override(ctx, block.Body, schema, opts.Overrides)
	value, more := schema.value(content, block.Context)
	more = append(unfit, more...)
	for i, diag := range more {
		if load.IsUnknown(diag) && diag.Subject != nil {
			more[i] = cmp.Or(load.Newer(opts.Product, *diag.Subject), diag)
		}
	}
	diags = append(diags, unquoted(more, opts.Overrides)...)
	if diags.HasErrors() {
		return config, diags
	}
	if !value.IsWhollyKnown() {
		return config, append(diags, diagnostic.Error(block.Range, "Unknown values within backend definition",
			"All arguments of a backend have to be values that are known from the start."))
	}
	lacking := missing(block, schema, value, opts.Getenv)
	diags = append(diags, lacking...)
	if len(lacking) == 0 || block.Type == "s3" { // s3 alone reports all problems at once
		diags = append(diags, checkRules(block, value, opts)...)
	}
	if !diags.HasErrors() {
		config.value = value
	}
	return config, diags
}

// Text returns the value of a string argument, or "" if it is missing or no string.
func (c *Config) Text(name string) string { return textOf(c.value, name) }

// Workspace returns the only workspace of a cloud block, or "" if it may have several.
func (c *Config) Workspace() string {
	if c.Type != Cloud || c.value == cty.NilVal {
		return ""
	}
	return textOf(c.value.GetAttr("workspaces"), "name")
}

// HasTags reports whether a cloud block selects workspaces by tags.
func (c *Config) HasTags() bool {
	if c.Type != Cloud || c.value == cty.NilVal || c.value.GetAttr("workspaces").IsNull() {
		return false
	}
	tags := c.value.GetAttr("workspaces").GetAttr("tags")
	return !tags.IsNull() && tags.CanIterateElements() && tags.LengthInt() > 0
}

// textOf returns a string attribute of an object, or "".
func textOf(object cty.Value, name string) string {
	if object == cty.NilVal || object.IsNull() || !object.Type().IsObjectType() || !object.Type().HasAttribute(name) {
		return ""
	}
	value := object.GetAttr(name)
	if value.Type() != cty.String || value.IsNull() {
		return ""
	}
	return value.AsString()
}

// hash hashes the block's decoded values.
func hash(block load.Backend, schema *schema) uint64 {
	value, _ := schema.decode(block.Body, block.Context)
	return uint64(cty.TupleVal([]cty.Value{cty.StringVal(block.Type), value}).Hash())
}

// missing reports required arguments without a value.
func missing(block load.Backend, s *schema, value cty.Value, getenv func(string) string) (diags hcl.Diagnostics) {
	for _, name := range slices.Sorted(maps.Keys(s.Attributes)) {
		if !s.Attributes[name].required || !value.GetAttr(name).IsNull() {
			continue
		}
		if variable := s.Elsewhere[name]; variable != "" && getenv != nil && getenv(variable) != "" {
			continue
		}
		diags = append(diags, diagnostic.Error(block.Range, "Missing Required Value",
			"The backend %q needs a value for %q. Give it in the block, or with -backend-config.", block.Type, name))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Blocks)) {
		elements := []cty.Value{value.GetAttr(name)}
		if s.Blocks[name].Set || s.Blocks[name].List {
			elements = elements[0].AsValueSlice()
		}
		for _, element := range elements {
			if !element.IsNull() {
				diags = append(diags, missing(block, s.Blocks[name], element, getenv)...)
			}
		}
	}
	return diags
}

// unsupported reports an unknown type, as a warning if the product is newer than the table.
func unsupported(block load.Backend, types map[string]*schema, product getproviders.Product) *hcl.Diagnostic {
	if newer := load.Newer(product, block.Range); newer != nil {
		newer.Detail = fmt.Sprintf("%s %s is newer than what tfdeps knows, and may have the type %q. The backend isn't initialized: \"%s init\" does that afterwards, or -with=%s.",
			product.Name, product.Version, block.Type, product.Program, product.Program)
		return newer
	}
	detail := fmt.Sprintf("There is no backend type named %q.", block.Type)
	switch block.Type {
	case "artifactory", "azure", "etcd", "etcdv3", "manta", "swift":
		detail = fmt.Sprintf("The %q backend is not supported in Terraform v1.3 or later.", block.Type)
	}
	return diagnostic.Coded("backend_configuration", diagnostic.Error(block.TypeRange, "Unsupported backend type", "%s The types are: %s.", detail, strings.Join(names(types), ", ")))
}

// schemas is the table of types by name. A value's type is a word such as "string" or
// "list(string)", with an exclamation mark if the argument is required, or an object of such words.
//
//go:embed schemas.json
var schemas []byte

// openTofuSchemas are the differences of OpenTofu 1.12 from the table. OpenTofu lacks arguments
// that the table marks as younger than its base version, too.
//
//go:embed schemas_opentofu.json
var openTofuSchemas string

// successor is a product with the types of a Terraform version, except for some differences.
type successor struct{ base, differences string }

var successors = map[string]successor{"tofu": {"1.5.7", openTofuSchemas}}

// difference is a product's difference in one type: additional or changed arguments and blocks, and
// arguments that it lacks.
type difference struct {
	Without    []string
	Attributes map[string]valueType
	Blocks     map[string]*schema
}

// schema is the content of a block's body.
type schema struct {
	Since      string            // the first version that has the type
	Younger    map[string]string // by argument, the first version that has it
	Elsewhere  map[string]string // by required argument, the environment variable that may replace it
	Attributes map[string]valueType
	Blocks     map[string]*schema
	Set        bool // a block may be repeated
	List       bool // a block may be repeated, and the order matters
}

// valueType is the type of an argument.
type valueType struct {
	cty      cty.Type
	required bool
}

// UnmarshalJSON reads a type's word or an object of words.
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

// allTypes returns the types of all versions of Terraform. Callers must not change them.
var allTypes = sync.OnceValues(func() (types map[string]*schema, err error) {
	err = json.Unmarshal(schemas, &types)
	return types, err
})

// table returns the backend types of the product.
func table(product getproviders.Product) (map[string]*schema, error) {
	own := cmp.Or(successors[product.Program], successor{product.Version, "{}"})
	all, err := allTypes()
	if err != nil {
		return nil, err
	}
	version, err := getproviders.ParseVersion(own.base)
	if err != nil {
		return nil, err
	}
	older := func(since string) bool {
		return since != "" && version.Compare(getproviders.MustParseVersion(since)) < 0
	}
	types := map[string]*schema{}
	for name, s := range all {
		if own := *s; !older(s.Since) {
			own.Attributes, own.Blocks = maps.Clone(s.Attributes), maps.Clone(s.Blocks)
			maps.DeleteFunc(own.Attributes, func(name string, _ valueType) bool { return older(s.Younger[name]) })
			types[name] = &own
		}
	}
	var different map[string]difference
	if err := json.Unmarshal([]byte(own.differences), &different); err != nil {
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

// names lists the possible types of a backend block.
func names(types map[string]*schema) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(types)), func(name string) bool { return name == Cloud })
}
