package load

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// row is an argument or a block of the language: a line of the table, with its kind and what follows.
type row struct {
	name, kind     string
	labels         []string // labels of a block; allowed values of an argument that is a word
	block          bool
	once, required bool
	versions       dialect.Versions
}

//go:embed language.txt
var languageTable string

// rows has the rows of blocks that were asked for: most configurations have few kinds of blocks.
var rows sync.Map

// rowsOf returns the rows of a block; none if the table doesn't have it.
func rowsOf(in string) (all []row) {
	if known, ok := rows.Load(in); ok {
		return known.([]row)
	}
	for line := range strings.Lines(languageTable) {
		blocks, rest, _ := strings.Cut(line, " ")
		if !strings.Contains(blocks, in) || !slices.Contains(strings.Split(blocks, ","), in) {
			continue
		}
		fields := strings.Fields(rest)
		var r row
		kind, required := strings.CutSuffix(fields[1], "!")
		kind, labels, _ := strings.Cut(kind, ":")
		r.kind, r.once = strings.CutSuffix(kind, "1")
		r.required, r.labels = required, strings.FieldsFunc(labels, isComma)
		r.block = slices.Contains([]string{"block", "form", "body", "condition", "refused-block"}, r.kind)
		r.versions = dialect.ReadVersions(fields[2:])
		for _, r.name = range strings.FieldsFunc(fields[0], isComma) {
			all = append(all, r)
		}
	}
	if len(all) > 0 { // names that a configuration has invented would stay for ever
		rows.Store(in, all)
	}
	return all
}

func isComma(r rune) bool { return r == ',' }

// experimental reports whether a version allows experiments.
func experimental(version string) bool {
	return strings.Contains(version, "-alpha") || strings.Contains(version, "-dev")
}

// grammar is the language of a product's version.
type grammar struct {
	product dialect.Dialect
	newer   bool // than the table's versions
	forms   map[string]*form
}

// form is the content that a block may have.
type form struct {
	schema *hcl.BodySchema
	rows   map[string]row
	open   bool // a provider or a module allows other content
}

func newGrammar(product dialect.Dialect) *grammar {
	return &grammar{product: product, newer: !product.Understands("known"), forms: map[string]*form{}}
}

// form returns the content that a block may have; empty if the table doesn't have the block.
func (g *grammar) form(in string) *form {
	if known, ok := g.forms[in]; ok {
		return known
	}
	f := &form{schema: &hcl.BodySchema{}, rows: map[string]row{}}
	g.forms[in] = f
	for _, r := range rowsOf(in) {
		switch {
		case !g.product.In(r.versions):
			continue
		case r.name == "*":
			f.open = true
			continue
		case r.block:
			f.schema.Blocks = append(f.schema.Blocks, hcl.BlockHeaderSchema{Type: r.name, LabelNames: r.labels})
		case r.kind != "rule":
			f.schema.Attributes = append(f.schema.Attributes, hcl.AttributeSchema{Name: r.name, Required: r.required})
		}
		f.rows[r.name] = r
	}
	return f
}

// holds reports whether a block can have a name, or whether a rule applies.
func (g *grammar) holds(in, name string) bool { return g.form(in).rows[name].kind != "" }

// names returns the names in a block, in the table's order.
func (g *grammar) names(in string) (all []string) {
	for _, r := range rowsOf(in) {
		if g.holds(in, r.name) {
			all = append(all, r.name)
		}
	}
	return all
}

// again returns the summary of the problem of a duplicate block.
func again(in, name string) string {
	switch {
	case in == "run":
		return "Multiple \"" + name + "\" blocks"
	case in == "check":
		return "Multiple data resource blocks"
	case name == "_":
		name = "escaping"
	}
	return "Duplicate " + name + " block"
}

// refusal returns the summary of the problem of a reserved name.
func refusal(in, what string, g *grammar) string {
	of, isLifecycle := strings.CutSuffix(in, ".lifecycle")
	switch {
	case isLifecycle && of == "ephemeral" && g.product.Understands("own_summaries"):
		return "Invalid lifecycle configuration for ephemeral resource"
	case isLifecycle && what == "block":
		return "Invalid " + of + " resource lifecycle nested block"
	case isLifecycle:
		return "Invalid " + of + " resource lifecycle argument"
	case what == "block":
		return "Reserved block type name in " + in + " block"
	}
	return "Reserved argument name in " + in + " block"
}

// optional returns the schema for override files, which may leave out any argument.
func optional(schema *hcl.BodySchema) *hcl.BodySchema {
	loose := &hcl.BodySchema{Attributes: slices.Clone(schema.Attributes), Blocks: schema.Blocks}
	for i := range loose.Attributes {
		loose.Attributes[i].Required = false
	}
	return loose
}

// IsUnknown reports whether a problem is an unknown argument or block. A block in place of an argument, or the reverse, is
// another problem. HCL has no other data about it than these texts.
func IsUnknown(diag *hcl.Diagnostic) bool {
	return !strings.Contains(diag.Detail, "to define") && (strings.HasPrefix(diag.Summary, "Unexpected \"") ||
		slices.Contains([]string{"Unsupported argument", "Unsupported block type", "Extraneous JSON object property"}, diag.Summary))
}

// Newer returns a warning about unknown syntax if the product is newer than the table's versions, or
// nil.
func Newer(product getproviders.Product, at hcl.Range) *hcl.Diagnostic {
	if !newGrammar(dialect.Of(product)).newer {
		return nil
	}
	return diagnostic.Warning(at, "Unknown to this version of tfdeps",
		"%s %s is newer than what tfdeps knows, and this may decide what has to be installed. It is left to \"%s plan\". "+
			"A newer version of tfdeps may know it.", product.Name, product.Version, product.Program)
}
