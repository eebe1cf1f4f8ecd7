package backend

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Cloud is the type that a cloud block has.
const Cloud = "cloud"

// Block is a backend or cloud block of the configuration.
type Block struct {
	Type  string    // the label; [Cloud] for a cloud block
	Range hcl.Range // of the header
	Body  hcl.Body  // nil: empty; its expressions have to be cheap to evaluate

	// Context is what the expressions may refer to; nil: nothing.
	Context *hcl.EvalContext
}

// Config is a block with all that was said beside it. Make one with [Decode];
// it isn't changed afterwards.
type Config struct {
	Type string

	hash  uint64
	value cty.Value // cty.NilVal if it can't be used
	as    cty.Type
}

// Options are what a block is read with.
type Options struct {
	// Product is the one whose table of types counts.
	Product getproviders.Product

	// Overrides are values of -backend-config, in the order given: names of
	// files, and pairs "name=value". A single empty one says that there are none.
	Overrides []string

	// Getenv looks up a variable of the environment, "" for one that isn't
	// set: some stand for a required argument. nil: none is set.
	Getenv func(name string) string
}

// Decode reads a block. Diagnostics are those of HCL, with the places that
// they are about if that is the configuration; what was given beside it may be
// secret, and is never quoted. With errors among them the Config has no values, and is there for
// [Record.Compare] only: a block that is incomplete without -backend-config is
// right as long as it is the one that was initialized with it. The Config is
// nil if there is no such type.
//
// It reads the files that the overrides name, relative to the current
// directory, and nothing else.
func Decode(block Block, opts Options) (*Config, hcl.Diagnostics) {
	types, err := table(opts.Product)
	if err != nil {
		return nil, hcl.Diagnostics{failure(block.Range, "Unknown types of backends", err.Error())}
	}
	schema := types[block.Type]
	if schema == nil {
		return nil, hcl.Diagnostics{unsupported(block, types)}
	}
	if block.Body == nil {
		block.Body = hcl.EmptyBody()
	}
	config := &Config{Type: block.Type, hash: hash(block, schema), as: schema.valueType()}
	body, diags := override(block.Body, schema, opts.Overrides)
	value, more := decode(body, schema, block.Context)
	diags = append(diags, unquoted(more, opts.Overrides)...)
	if diags.HasErrors() {
		return config, diags
	}
	if !value.IsWhollyKnown() {
		return config, append(diags, failure(block.Range, "Unknown values within backend definition",
			"All arguments of a backend have to be values that are known from the start."))
	}
	diags = append(diags, missing(block, schema, value, opts.Getenv)...)
	if !diags.HasErrors() {
		config.value = value
	}
	return config, diags
}

// Hash is the number that stands for the block in the configuration. What
// else was said doesn't change it.
func (c *Config) Hash() uint64 { return c.hash }

// Text returns the value of an argument that is a string; "" if it has none,
// or if there is no such argument.
func (c *Config) Text(name string) string { return textOf(c.value, name) }

// Has reports whether there is an argument or a block of a name.
func (c *Config) Has(name string) bool {
	return c.value != cty.NilVal && c.as.HasAttribute(name) && !c.value.GetAttr(name).IsNull()
}

// Workspace returns the one workspace that a cloud block is for; "" if there
// may be several.
func (c *Config) Workspace() string {
	if c.Type != Cloud || c.value == cty.NilVal {
		return ""
	}
	return textOf(c.value.GetAttr("workspaces"), "name")
}

// textOf returns a string in an object, "" if there is none.
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

func decode(body hcl.Body, schema *schema, context *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	return hcldec.Decode(body, schema.spec(), context)
}

// hash is made of what could be decoded.
func hash(block Block, schema *schema) uint64 {
	value, _ := decode(block.Body, schema, block.Context)
	if value == cty.NilVal {
		value = cty.UnknownVal(schema.valueType())
	}
	return uint64(cty.TupleVal([]cty.Value{cty.StringVal(block.Type), value}).Hash())
}

// missing finds the required arguments that nobody gave.
func missing(block Block, s *schema, value cty.Value, getenv func(string) string) (diags hcl.Diagnostics) {
	for _, name := range slices.Sorted(maps.Keys(s.Attributes)) {
		if !s.Attributes[name].required || !value.GetAttr(name).IsNull() {
			continue
		}
		if variable := s.Elsewhere[name]; variable != "" && getenv != nil && getenv(variable) != "" {
			continue
		}
		diags = append(diags, failure(block.Range, "Missing Required Value", fmt.Sprintf(
			"The backend %q needs a value for %q. Give it in the block, or with -backend-config.", block.Type, name)))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Blocks)) {
		nested := value.GetAttr(name)
		switch {
		case nested.IsNull():
		case s.Blocks[name].Set || s.Blocks[name].List:
			for _, element := range nested.AsValueSlice() {
				diags = append(diags, missing(block, s.Blocks[name], element, getenv)...)
			}
		default:
			diags = append(diags, missing(block, s.Blocks[name], nested, getenv)...)
		}
	}
	return diags
}

// unsupported explains that there is no such type.
func unsupported(block Block, types map[string]*schema) *hcl.Diagnostic {
	detail := fmt.Sprintf("There is no backend type named %q.", block.Type)
	switch block.Type {
	case "artifactory", "azure", "etcd", "etcdv3", "manta", "swift":
		detail = fmt.Sprintf("The %q backend is not supported in Terraform v1.3 or later.", block.Type)
	}
	return failure(block.Range, "Unsupported backend type", detail+" The types are: "+strings.Join(names(types), ", ")+".")
}

func failure(at hcl.Range, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at}
}
