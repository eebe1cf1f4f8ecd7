package load

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// mockSuffixes are those of files of mock data.
var mockSuffixes = []string{".tfmock.hcl", ".tfmock.json"}

// mockProvider decodes a mock_provider block.
func (d *document) mockProvider(b *block) {
	d.declareTested(b)
	if source := b.attrs["source"]; source != nil {
		val, _ := static.Evaluate(source.Expr)
		if dir, ok := static.Text(val); ok && dir != "" {
			d.mocks = append(d.mocks, mockData{dir, b.DefRange})
		}
	}
	d.checkMocks(b)
}

// checkMocks looks at blocks of mock data, and returns what they give the values of.
func (d *document) checkMocks(b *block) []declaration {
	var declared []declaration
	for _, inner := range b.blocks {
		if len(inner.Labels) > 0 {
			declared = d.once(declared, declaration{key{inner.Type, inner.Labels[0], ""}, inner.LabelRanges[0]})
		}
	}
	return append(declared, d.checkOverrides(b, true)...)
}

// once adds a declaration to others, unless it is there already, which is a problem.
func (d *document) once(declared []declaration, more declaration) []declaration {
	if i := slices.IndexFunc(declared, func(other declaration) bool { return other.key == more.key }); i >= 0 {
		d.error(more.rng, "Duplicate "+more.block+" block", "There is one for the same already at %s.", declared[i].rng)
		return declared
	}
	return append(declared, more)
}

// checkDuring looks at override_during, which says from when on values count.
func (d *document) checkDuring(attr *hcl.Attribute) {
	if !slices.Contains([]string{"plan", "apply"}, hcl.ExprAsKeyword(attr.Expr)) && !d.leftToPlan(attr.Range, false) {
		d.error(attr.Range, "Invalid override_during value", "It is one of the words plan or apply, without quotes.")
	}
}

// overrideTarget decodes such a block that stands in a file by itself.
func (d *document) overrideTarget(b *block) {
	if subject := d.overridden(b); subject != "" && !d.laterTests() {
		d.declare(b.DefRange, b.Type, "", subject)
	}
}

// laterTests reports whether some of what is wrong with such blocks is said by the test command only,
// as OpenTofu does it.
func (d *document) laterTests() bool { return d.product.TestProviders }

// checkOverrides looks at such blocks within another one, which with once may name each thing
// once, and returns what they name.
func (d *document) checkOverrides(b *block, once bool) []declaration {
	var declared []declaration
	for _, inner := range b.blocks {
		if !strings.HasPrefix(inner.Type, "override_") {
			continue
		}
		if subject := d.overridden(inner); subject != "" && once {
			declared = d.once(declared, declaration{key{inner.Type, "", subject}, inner.DefRange})
		}
	}
	return declared
}

// notTargets are the words that the address of a target can't begin with.
var notTargets = []string{"count", "each", "local", "path", "self", "terraform", "var", "template", "lazy", "arg"}

// overridden returns the address of what a block gives the values of; "" if there is
// none that the block can have.
func (d *document) overridden(b *block) string {
	attr := b.attrs["target"]
	if attr == nil {
		summary := "Missing target attribute"
		if d.laterTests() {
			summary = "Missing required argument"
		}
		d.error(b.DefRange, summary, "The block says whose values it gives with the argument \"target\".")
		return ""
	}
	target := d.movable(attr, notTargets)
	if target == nil {
		return ""
	}
	if d.laterTests() {
		d.checkKeyless(attr, target)
		return target.address
	}
	if wants := strings.TrimPrefix(b.Type, "override_"); target.kind != wants {
		d.error(attr.Range, "Invalid override target", "In a block %q, the target has to be a %s.", b.Type, wants)
		return ""
	}
	return target.address
}

// checkKeyless reports keys in the address of a target, which OpenTofu doesn't take.
func (d *document) checkKeyless(attr *hcl.Attribute, target *movable) {
	of := "Resource"
	switch {
	case target.moduleKey != nil:
		of = "Module"
	case target.resourceKey == nil:
		return
	}
	d.error(attr.Expr.Range(), of+" instance address with keys is not allowed",
		"The values are those of all instances: leave out the key.")
}

// readMocks reads a directory of mock data. Its path counts from the root module.
func (b *builder) readMocks(mocks mockData) {
	dir := mocks.dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(b.module.Dir, dir)
	}
	entries, err := b.files.List(dir)
	if err != nil {
		b.error(mocks.header, "Failed to read mock data directory",
			"The provider's data is to be in the directory %s, which can't be read: %v.", mocks.dir, err)
		return
	}
	var declared []declaration
	for _, entry := range entries {
		if entry.IsDir() || ignored(entry.Name()) || !hasSuffix(entry.Name(), mockSuffixes) {
			continue
		}
		for _, more := range b.readMockFile(filepath.Join(dir, entry.Name())) {
			i := slices.IndexFunc(declared, func(other declaration) bool { return other.key == more.key })
			if i < 0 {
				declared = append(declared, more)
				continue
			}
			what := "mock resource"
			if strings.HasPrefix(more.block, "override_") {
				what = "override"
			}
			b.error(more.rng, "Duplicate "+what+" block", "Another file has the same already at %s.", declared[i].rng)
		}
	}
}

// readMockFile reads a file of mock data, and returns what it gives the values of.
func (b *builder) readMockFile(full string) []declaration {
	body := b.parse(full)
	if body == nil {
		return nil
	}
	d := &document{product: b.product, grammar: b.module.grammar}
	declared := d.checkMocks(d.read(&hcl.Block{Body: body}, "mock_file"))
	b.report(d.diags...)
	return declared
}

// declareTested declares a provider that tests use, real or not.
func (d *document) declareTested(b *block) {
	k := d.configuration(b)
	d.declare(b.DefRange, "test provider", k.name, k.alias)
}
