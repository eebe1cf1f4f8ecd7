package load

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/files"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/par"
)

// LoadModule is [LoadModuleWith] without options.
func LoadModule(dir string, product getproviders.Product) (*Module, hcl.Diagnostics) {
	return LoadModuleWith(dir, product, Options{})
}

// LoadModuleWith reads the configuration in a directory, without the modules that it calls. It
// reads only the files there, and those that functions in the sources of modules name. It is safe
// for concurrent use.
//
// The module is never nil, and as complete as possible after errors. Diagnostics are in the order
// of files and positions; their file names are joined to dir, so they are relative if dir is.
// Directories and files that can't be read are diagnostics, too; a directory that doesn't exist is
// an empty module.
func LoadModuleWith(dir string, given getproviders.Product, opts Options) (*Module, hcl.Diagnostics) {
	product := dialect.Of(given)
	found, diags := listFiles(dir, product, opts)
	build := newBuilder(dir, product, opts)
	build.links = found.links
	if opts.Outlines != nil && len(found.override)+len(found.tests) == 0 {
		build.recall(found.primary)
	}
	for _, name := range found.primary {
		build.add(build.read(name, "file", false))
	}
	for _, name := range found.override {
		build.override(build.read(name, "file", true))
	}
	for _, name := range found.tests {
		build.addTest(name, build.read(name, "testfile", false))
	}
	build.finish()

	module := build.module
	module.Options.done = nil
	configuration := len(found.primary) + len(found.override)
	if !module.grammar.product.Understands("test_providers") {
		configuration += len(found.tests)
	}
	module.Empty = configuration == 0 && !diags.HasErrors()
	diags = append(diags, build.found.diags...)
	if len(diags) == 0 && opts.Outlines != nil {
		build.keepOutline(opts.Outlines)
	}
	diagnostic.Sort(diags)
	return module, diags
}

// LoadModuleContext is LoadModuleWith that returns when ctx ends, with an error among the
// diagnostics. Large files take seconds to parse: parsing the current file continues in the
// background.
func LoadModuleContext(ctx context.Context, dir string, product getproviders.Product, opts Options) (*Module, hcl.Diagnostics) {
	module, diags, err := par.Interruptible(ctx, func(ctx context.Context) (*Module, hcl.Diagnostics) {
		interruptible := opts
		interruptible.done = func() bool { return ctx.Err() != nil }
		return LoadModuleWith(dir, product, interruptible)
	})
	if err != nil {
		build := newBuilder(dir, dialect.Of(product), opts)
		build.finish()
		return build.module, hcl.Diagnostics{diagnostic.Coded("interrupted", diagnostic.Placeless("Reading the configuration was interrupted",
			"The directory %s wasn't read to its end: %s.", dir, err))}
	}
	return module, diags
}

// read reads a file of a kind. It decodes as much of a file with errors as the parser understood.
func (b *builder) read(name, kind string, override bool) *document {
	doc := &document{override: override, product: b.product, grammar: b.grammar}
	if b.done != nil && b.done() {
		return doc
	}
	if body := b.parse(filepath.Join(b.module.Dir, name)); body != nil {
		doc.decode(body, kind)
		b.module.LeftToPlan = append(b.module.LeftToPlan, doc.left...)
		b.found.report(doc.found.diags...)
	}
	return doc
}

// decode reads the blocks of a file of a kind.
func (d *document) decode(file hcl.Body, kind string) {
	for _, b := range d.read(&hcl.Block{Body: file}, kind).blocks {
		d.take(kind, b)
	}
}

// take reads the declarations of a block. In products in which provider blocks of test files are requirements, they are
// decoded as in the configuration.
func (d *document) take(kind string, b *block) {
	switch b.Type {
	case "terraform":
		d.terraform(b)
	case "required_providers":
		d.error(b.DefRange, "Invalid required_providers block", "It has to stand inside a \"terraform\" block.")
	case "language":
		d.languageBlock(b)
	case "provider":
		if kind == "testfile" && !d.product.Understands("test_providers") {
			d.testProvider(b)
		} else {
			d.provider(b)
		}
	case "module":
		d.moduleBlock(b)
	case "variable":
		d.variable(b)
	case "output":
		d.output(b)
	case "locals":
		d.locals(b)
	case "check":
		d.check(b)
	case "import":
		d.importBlock(b)
	case "moved":
		d.moved(b)
	case "removed":
		d.removed(b)
	case "resource", "data", "ephemeral", "action":
		d.resource(b)
	case "run":
		d.run(b)
	case "test": // a file has at most one
		d.declare(b.DefRange, key{block: "test"}, nil)
	case "variables":
		d.testVariables(b)
	case "mock_provider":
		d.mockProvider(b)
	case "override_resource", "override_data", "override_module":
		d.overrideTarget(b)
	}
}

// defaultTestDirectory has test files, besides the module's own directory.
const defaultTestDirectory = "tests"

// listing has the names of a module's files, sorted.
type listing struct {
	primary  []string
	override []string
	tests    []string // those of the test directory are last, with its name
	links    map[string]bool
}

// listFiles reads the directories, but no files.
func listFiles(dir string, product dialect.Dialect, opts Options) (listing, hcl.Diagnostics) {
	found := listing{links: map[string]bool{}}
	entries, err := files.System{FS: opts.FS}.List(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found, nil
	case err != nil:
		return found, hcl.Diagnostics{diagnostic.Unreadable("Failed to read module directory", err)}
	}
	for _, entry := range entries {
		found.links[entry.Name()] = entry.Type() == fs.ModeSymlink
	}
	for _, name := range fileNames(entries, product) {
		base, isConfig := configBase(name, product.Suffixes)
		switch {
		case hasSuffix(name, product.TestSuffixes):
			if opts.Path == "" && !opts.NoTests { // tests of called modules are ignored
				found.tests = append(found.tests, name)
			}
		case isConfig && (base == "override" || strings.HasSuffix(base, "_override")):
			found.override = append(found.override, name)
		case isConfig:
			found.primary = append(found.primary, name)
		}
	}
	if opts.Path != "" || opts.NoTests {
		return found, nil
	}
	isDefault := func(entry fs.DirEntry) bool { return strings.EqualFold(entry.Name(), defaultTestDirectory) } // the file system may ignore case
	if opts.TestDirectory == "" && !slices.ContainsFunc(entries, isDefault) {
		return found, nil
	}
	return found, found.addTests(dir, product, opts)
}

// addTests adds the tests in the test directory, one level deep.
func (l *listing) addTests(dir string, product dialect.Dialect, opts Options) hcl.Diagnostics {
	name := cmp.Or(opts.TestDirectory, defaultTestDirectory)
	testDir := filepath.Join(dir, name)
	entries, err := files.System{FS: opts.FS}.List(testDir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && name == defaultTestDirectory:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return hcl.Diagnostics{diagnostic.Coded("configuration_not_found", diagnostic.PlacelessWarning("Test directory does not exist",
			"There is no directory %s, so no test files are read.", testDir))}
	case err != nil:
		return hcl.Diagnostics{diagnostic.Unreadable("Failed to read test directory", err)}
	}
	for _, file := range fileNames(entries, product) {
		// The test directory may be the module's directory.
		if test := filepath.Join(name, file); hasSuffix(file, product.TestSuffixes) && !slices.Contains(l.tests, test) {
			l.tests = append(l.tests, test)
		}
	}
	return nil
}

// configBase cuts the longest suffix off a configuration file's name.
func configBase(name string, suffixes []string) (base string, ok bool) {
	base = name
	for _, suffix := range suffixes {
		if rest, found := strings.CutSuffix(name, suffix); found && len(rest) < len(base) {
			base, ok = rest, true
		}
	}
	return base, ok
}

// fileNames returns the names of the files that are read, in order. In OpenTofu "main.tofu" hides
// "main.tf".
func fileNames(entries []fs.DirEntry, product dialect.Dialect) []string {
	var names []string
	for _, entry := range entries {
		if !entry.IsDir() && !ignored(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	hidden := map[string]bool{}
	for _, name := range names {
		for own, other := range product.Hides {
			if base, ok := strings.CutSuffix(name, own); ok {
				hidden[base+other] = true
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return hidden[name] })
}

// Intended differences from Terraform in decoding and in problems:
//
// Problems are in the order of files and positions, each once, all with their position; of several entries
// for one provider the first by name counts as right, and of several empty blocks the first is reported.
// Files with expressions nested more than ten thousand levels deep, and version constraints that would take
// too long to compute, are errors instead of crashes. In a run's module block, a null version means any.
// References in test files are left to the tests. Values for variables, and conditions of variables, are
// evaluated only if a variable is constant. Plan checks whether a referenced provider configuration exists.
