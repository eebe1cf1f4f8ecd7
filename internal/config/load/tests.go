package load

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// testVariables decodes a variables block; a file has at most one.
func (d *document) testVariables(b *block) {
	d.declare(b.DefRange, key{block: "variables"}, nil)
	attrs, diags := b.Body.JustAttributes()
	d.report(diags...)
	d.assigned = attrs
}

// testProvider decodes a provider block of a test file that isn't a requirement.
func (d *document) testProvider(b *block) {
	if attr := b.attrs["version"]; attr != nil {
		d.error(attr.Expr.Range(), "Version constraints are not allowed in test files",
			"The version constraint of a provider belongs in the required_providers block of the module under test.")
	}
	d.declareTested(b)
}

// addTest adds the declarations of a test file; name is relative to the module.
func (b *builder) addTest(name string, d *document) {
	seen := map[key]hcl.Range{}
	var providers []*providerConfig
	for _, declared := range d.declared {
		if config, ok := declared.item.(*providerConfig); ok {
			providers = append(providers, config)
		}
		if declared.block == "variable" {
			declared.block = "test variable" // distinct from the module's variables
		}
		if b.product.Understands("test_providers") && (declared.block == "run" || declared.block == "provider") {
			continue
		}
		if first, ok := seen[declared.key]; ok {
			b.found.report(duplicate(declared, first))
			continue
		}
		seen[declared.key] = declared.rng
		if _, ok := d.assigned[declared.name]; ok && declared.block == "test variable" {
			b.found.error(declared.rng, `Duplicate "variable" block names`,
				"The variables block of this file gives %q a value already at %s.", declared.name, d.assigned[declared.name].Range)
		}
	}
	for _, mocks := range d.mocks {
		b.readMocks(mocks)
	}
	// Like Terraform, this cuts only the native syntax's suffix off the file name.
	dir, test := filepath.Split(strings.TrimSuffix(name, ".tftest.hcl"))
	if b.product.Understands("test_backslashes") {
		dir, test = path.Split(strings.TrimSuffix(name, ".tftest.hcl"))
	}
	if dir != "" {
		test = strings.ReplaceAll(dir[:len(dir)-1], "/", ".") + "." + test
	}
	test = "test." + test
	b.module.Tests = append(b.module.Tests, test)
	b.module.testProviders[test] = lastOfName(providers)
	taken := map[string]TestRun{}
	for _, run := range d.runs {
		if first, ok := taken[run.Name]; ok {
			if b.product.Understands("test_providers") && first.Call.Source != run.Call.Source {
				b.found.error(run.Call.SourceRange, "Module source has changed",
					"A run of the same name, at %s, has another module. The modules of both would be recorded as one.", first.Call.SourceRange)
			}
			continue
		}
		taken[run.Name] = run
		run.Key = test + "." + run.Name
		b.module.TestRuns = append(b.module.TestRuns, run)
	}
}

// lastOfName returns the last of several blocks for each provider configuration.
func lastOfName(all []*providerConfig) []*providerConfig {
	last := map[providerKey]*providerConfig{}
	for _, config := range all {
		last[config.providerKey] = config
	}
	return slices.DeleteFunc(slices.Clone(all), func(config *providerConfig) bool { return last[config.providerKey] != config })
}

// run decodes a run block.
func (d *document) run(b *block) {
	name := b.Labels[0]
	valid := d.checkName("run block name", name, b.LabelRanges[0])
	d.declare(b.LabelRanges[0], key{"run", "", name}, nil)
	d.passedProviders(b.attrs["providers"])
	var given hcl.Attributes
	for _, inner := range b.blocks {
		switch inner.Type {
		case "variables":
			attrs, diags := inner.Body.JustAttributes()
			d.report(diags...)
			given = attrs
		case "plan_options":
			d.planOptions(inner)
		case "backend":
			if !experimental(d.product.Version) {
				d.error(inner.DefRange, "Invalid block",
					"Runs have backends of their own only in alpha releases of %s.", d.product.Name)
			}
		}
	}
	var targets map[key]hcl.Range
	if d.product.Understands("override_once") {
		targets = map[key]hcl.Range{}
	}
	d.checkOverrides(b, targets)
	if own := b.of("module"); len(own) > 0 {
		if call := d.runModule(own[0]); call != nil && valid {
			call.Name, call.arguments = name, given
			d.runs = append(d.runs, TestRun{Name: name, Call: *call})
		}
	}
}

// runModule decodes the module block of a run, or returns nil if it has no source.
func (d *document) runModule(b *block) *ModuleCall {
	source := b.attrs["source"]
	if source == nil {
		d.error(b.DefRange, "Missing \"source\" attribute for module block",
			"A run that has a module block tests the module that the argument \"source\" names.")
		return nil
	}
	call := &ModuleCall{Range: b.DefRange}
	call.readSource(source, nil)
	call.readVersion(b.attrs["version"], nil)
	return call
}

// planOptions checks the options of a test's plan.
func (d *document) planOptions(b *block) {
	if refresh, mode := b.attrs["refresh"], b.attrs["mode"]; refresh != nil {
		val, _ := static.Evaluate(refresh.Expr)
		if flag, err := convert.Convert(val, cty.Bool); err == nil && flag.RawEquals(cty.False) &&
			mode != nil && hcl.ExprAsKeyword(mode.Expr) == "refresh-only" {
			d.error(refresh.Range, "Incompatible plan options", "A plan that only refreshes can't leave out refreshing.")
		}
	}
}

// mockSuffixes are the suffixes of files with mock data.
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
	d.checkMocks(b, map[key]hcl.Range{})
}

// checkMocks checks blocks of mock data, and records what they mock in given.
func (d *document) checkMocks(b *block, given map[key]hcl.Range) {
	for _, inner := range b.blocks {
		if len(inner.Labels) > 0 {
			d.noteOnce(given, key{inner.Type, inner.Labels[0], ""}, inner.LabelRanges[0])
		}
	}
	d.checkOverrides(b, given)
}

// noteOnce records a key in given, or reports the duplicate.
func (d *document) noteOnce(given map[key]hcl.Range, more key, at hcl.Range) {
	if first, ok := given[more]; ok {
		d.error(at, "Duplicate "+more.block+" block", "There is one for the same already at %s.", first)
		return
	}
	given[more] = at
}

// overrideTarget decodes a top-level block that sets values of a resource or a module.
func (d *document) overrideTarget(b *block) {
	if subject := d.target(b); subject != "" && d.product.Understands("override_once") {
		d.declare(b.DefRange, key{b.Type, "", subject}, nil)
	}
}

// checkOverrides checks inner blocks that set values of a resource or a module, and records their targets in given; nil allows
// several for one target.
func (d *document) checkOverrides(b *block, given map[key]hcl.Range) {
	for _, inner := range b.blocks {
		if !strings.HasPrefix(inner.Type, "override_") {
			continue
		}
		if subject := d.target(inner); subject != "" && given != nil {
			d.noteOnce(given, key{inner.Type, "", subject}, inner.DefRange)
		}
	}
}

// readMocks reads a directory of mock data, relative to the root module.
func (b *builder) readMocks(mocks mockData) {
	dir := mocks.dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(b.module.Dir, dir)
	}
	entries, err := b.files.List(dir)
	if err != nil {
		b.found.error(mocks.header, "Failed to read mock data directory",
			"The provider's mock data has to be in the directory %s, which can't be read: %v.", mocks.dir, err)
		return
	}
	given := map[key]hcl.Range{}
	for _, entry := range entries {
		if entry.IsDir() || ignored(entry.Name()) || !hasSuffix(entry.Name(), mockSuffixes) {
			continue
		}
		for more, at := range b.readMockFile(filepath.Join(dir, entry.Name())) {
			first, ok := given[more]
			if !ok {
				given[more] = at
				continue
			}
			what := "mock resource"
			if strings.HasPrefix(more.block, "override_") {
				what = "override"
			}
			b.found.error(at, "Duplicate "+what+" block", "Another file has the same already at %s.", first)
		}
	}
}

// readMockFile reads a file of mock data, and returns what it mocks.
func (b *builder) readMockFile(full string) map[key]hcl.Range {
	given := map[key]hcl.Range{}
	if body := b.parse(full); body != nil {
		d := &document{product: b.product, grammar: b.grammar}
		d.checkMocks(d.read(&hcl.Block{Body: body}, "mock_file"), given)
		b.found.report(d.found.diags...)
	}
	return given
}

// declareTested declares a provider for tests, real or mock.
func (d *document) declareTested(b *block) {
	k := d.configuration(b)
	d.declare(b.DefRange, key{"test provider", k.name, k.alias}, nil)
}
