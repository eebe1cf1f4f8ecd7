package configs

import (
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/wholefile"
)

// Options say how a module is loaded. The zero value is for any module.
type Options struct {
	// TestDirectory is where test files are looked for, relative to the
	// module, beside those in its own directory. "" is "tests", which may be
	// missing; any other that is missing is a warning.
	TestDirectory string

	// Path is the module's place in the tree of modules, "module.a.module.b".
	// Test files belong to the root module, whose path is "", and so do import
	// and backend blocks: elsewhere they are an error, and ignored with a warning.
	Path string

	// Source is the module's address, as messages have it; "" for the root module.
	Source string

	// Inputs are the values of the module's input variables, as the call has
	// them in [ModuleCall.Inputs], or [ReadInputs] for the root module. nil is
	// nothing known of them: constant variables without a default are unknown,
	// where they would be missing otherwise.
	Inputs Values

	// RootDir is the root module's directory, which expressions know as
	// path.root; "" is the module's own if it is the root module, and else unknown.
	RootDir string

	// WorkingDir is what expressions know as path.cwd; "" is unknown.
	WorkingDir string
}

// LoadModule is [LoadModuleWith] without options.
func LoadModule(dir string, product getproviders.Product) (*Module, hcl.Diagnostics) {
	return LoadModuleWith(dir, product, Options{})
}

// LoadModuleWith reads the configuration in a directory, not those of the
// modules that it calls. It reads nothing but the files there, and is safe for
// concurrent use.
//
// The module is never nil, and usable as far as it could be read, even if
// there are errors. Diagnostics are in the order of files and positions; a
// file's name in them is joined to dir, so that it is relative if dir is.
// Directories and files that can't be read are diagnostics, too; a directory
// that doesn't exist is an empty module.
func LoadModuleWith(dir string, product getproviders.Product, opts Options) (*Module, hcl.Diagnostics) {
	files, diags := list(dir, product, opts)
	build := newBuilder(dir, product, opts)
	for _, name := range files.primary {
		build.add(build.read(name, false))
	}
	for _, name := range files.override {
		build.override(build.read(name, true))
	}
	for _, name := range files.tests {
		build.addTest(name, build.readTest(name))
	}
	build.finish()

	module := build.module
	module.Empty = len(files.primary)+len(files.override)+len(files.tests) == 0 && !diags.HasErrors()
	diags = append(diags, build.diags...)
	sortDiagnostics(diags)
	return module, diags
}

// read parses and decodes a file. A file with errors is decoded as far as the
// parser understood it.
func (b *builder) read(name string, override bool) *document {
	return b.decode(name, &document{override: override, product: b.product, rules: b.rules})
}

// readTest is read for a test file.
func (b *builder) readTest(name string) *document {
	return b.decode(name, &document{product: b.product, rules: testLevel(b.product)})
}

func (b *builder) decode(name string, doc *document) *document {
	path := filepath.Join(b.module.Dir, name)
	src, err := wholefile.Read(path, maxFileBytes)
	if err != nil {
		b.report(unreadable("Failed to read file", err))
		return doc
	}
	file, diags := parse(src, path)
	b.report(diags...)
	if file == nil || file.Body == nil {
		return doc
	}
	b.module.Files[path] = file
	doc.decode(file.Body)
	b.report(doc.diags...)
	return doc
}

// maxFileBytes is far more than a configuration file has.
const maxFileBytes = 256 << 20

// parse reads a file in the syntax that its name tells.
func parse(src []byte, path string) (*hcl.File, hcl.Diagnostics) {
	isJSON := strings.HasSuffix(path, ".json")
	if tooDeep(src, isJSON) {
		start := hcl.Range{Filename: path, Start: hcl.InitialPos, End: hcl.InitialPos}
		return nil, hcl.Diagnostics{Problem(start, "Configuration nested too deeply",
			"This file has expressions or blocks inside one another, more than %d levels deep.", maxNesting)}
	}
	if isJSON {
		return json.Parse(src, path)
	}
	return hclsyntax.ParseConfig(src, path, hcl.InitialPos)
}
