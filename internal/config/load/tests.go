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

// testSettings decodes a test block, of which a file has one.
func (d *document) testSettings(b *block) {
	d.declare(b.DefRange, "test", "", "")
}

// checkCleanup looks at skip_cleanup, which is an experiment.
func (d *document) checkCleanup(attr *hcl.Attribute) {
	if !experimental(d.product.Version) {
		d.error(attr.NameRange, "Invalid attribute",
			"The argument %q exists only in alpha releases of %s.", attr.Name, d.product.Name)
	}
	d.checkArgument(attr, cty.Bool)
}

// testVariables decodes a variables block, of which a file has one.
func (d *document) testVariables(b *block) {
	d.declare(b.DefRange, "variables", "", "")
	attrs, diags := b.Body.JustAttributes()
	d.report(diags...)
	d.assigned = attrs
}

// testProvider decodes a provider block of a test file, which is no
// requirement.
func (d *document) testProvider(b *block) {
	if attr := b.attrs["version"]; attr != nil {
		d.error(attr.Expr.Range(), "Version constraints are not allowed in test files",
			"The version constraint of a provider belongs in the required_providers block of the module under test.")
	}
	d.declareTested(b)
}

// addTest takes over what a test file declares; name is relative to the module.
func (b *builder) addTest(name string, d *document) {
	seen := map[key]hcl.Range{}
	for _, declared := range d.declared {
		if declared.block == "variable" {
			declared.block = "test variable" // which is another one
		}
		if b.product.TestProviders && (declared.block == "run" || declared.block == "provider") {
			continue
		}
		if first, ok := seen[declared.key]; ok {
			b.report(duplicate(declared, first))
			continue
		}
		seen[declared.key] = declared.rng
		if _, ok := d.assigned[declared.name]; ok && declared.block == "test variable" {
			b.error(declared.rng, `Duplicate "variable" block names`,
				"The variables block of this file gives %q a value already at %s.", declared.name, d.assigned[declared.name].Range)
		}
	}
	for _, mocks := range d.mocks {
		b.readMocks(mocks)
	}
	test := testKey(filepath.ToSlash(name))
	b.module.Tests = append(b.module.Tests, test)
	b.module.testProviders[test] = lastOfName(d.providers)
	taken := map[string]TestRun{}
	for _, run := range d.runs {
		if first, ok := taken[run.Name]; ok {
			if b.product.TestProviders && first.Call.Source != run.Call.Source {
				b.error(run.Call.SourceRange, "Module source has changed",
					"A run of the same name, at %s, has another module. The modules of both would be recorded as one.", first.Call.SourceRange)
			}
			continue
		}
		taken[run.Name] = run
		run.File = filepath.ToSlash(name)
		run.Key = runKey(run.File, run.Name)
		b.module.TestRuns = append(b.module.TestRuns, run)
	}
}

// lastOfName keeps the last of several blocks for one configuration of a provider.
func lastOfName(all []*providerConfig) []*providerConfig {
	last := map[providerKey]*providerConfig{}
	for _, config := range all {
		last[config.providerKey] = config
	}
	return slices.DeleteFunc(slices.Clone(all), func(config *providerConfig) bool { return last[config.providerKey] != config })
}

// runKey is the key under which a run's module is recorded. Only the suffix of
// the native syntax is cut off the file's name, as Terraform does.
func runKey(file, run string) string {
	return testKey(file) + "." + run
}

// testKey is what the keys of a test file's runs begin with.
func testKey(file string) string {
	parts := []string{"test"}
	if dir := path.Dir(file); dir != "." {
		parts = append(parts, strings.Split(dir, "/")...)
	}
	return strings.Join(append(parts, strings.TrimSuffix(path.Base(file), ".tftest.hcl")), ".")
}

// run decodes a run block.
func (d *document) run(b *block) {
	name := b.Labels[0]
	valid := d.checkName("run block name", name, b.LabelRanges[0])
	d.declare(b.LabelRanges[0], "run", "", name)
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
	d.checkOverrides(b, !d.laterTests())
	if own := b.of("module"); len(own) > 0 {
		if call := d.runModule(own[0]); call != nil && valid {
			call.Name, call.arguments = name, given
			d.runs = append(d.runs, TestRun{Name: name, Call: *call})
		}
	}
}

// runModule decodes the module block of a run. It is nil if there is no source.
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

// planOptions checks the options of a plan that a test makes.
func (d *document) planOptions(b *block) {
	if refresh, mode := b.attrs["refresh"], b.attrs["mode"]; refresh != nil {
		val, _ := static.Evaluate(refresh.Expr)
		if flag, err := convert.Convert(val, cty.Bool); err == nil && flag.RawEquals(cty.False) &&
			mode != nil && hcl.ExprAsKeyword(mode.Expr) == "refresh-only" {
			d.error(refresh.Range, "Incompatible plan options", "A plan that only refreshes can't leave out refreshing.")
		}
	}
}

// checkWord reports an argument that isn't one of some words.
func (d *document) checkWord(attr *hcl.Attribute, words []string) {
	if !slices.Contains(words, hcl.ExprAsKeyword(attr.Expr)) && !d.leftToPlan(attr.Expr.Range(), false) {
		d.error(attr.Expr.Range(), "Invalid \""+attr.Name+"\" keyword",
			"The argument %q is one of the words %s, without quotes.", attr.Name, strings.Join(words, " or "))
	}
}

// checkAddresses reports what is no list of addresses.
func (d *document) checkAddresses(attr *hcl.Attribute) {
	for _, expr := range d.elements(attr) {
		d.traversal(expr)
	}
}
