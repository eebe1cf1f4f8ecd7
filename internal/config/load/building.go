package load

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/files"
	"github.com/tfdeps/tfdeps/internal/config/outline"
	"github.com/tfdeps/tfdeps/internal/config/static"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// builder puts the files of a module together.
type builder struct {
	module  *Module
	product dialect.Dialect
	grammar *grammar

	seen       map[key]hcl.Range // everything declared
	requiredAt hcl.Range         // the required_providers block; zero: none yet
	users      map[key]*user
	calls      map[string]*ModuleCall
	scope      *static.Scope
	files      files.System
	parser     static.Parser
	done       func() bool
	imports    []*importTarget
	state      stateBlocks

	texts      map[string][]byte    // of files that were read before all others; nil: none
	outlineKey string               // under which an outline of these is kept; "": nowhere
	outlined   map[string]*hcl.File // as far as it has to be known; nil: all is read

	found reporter
	late  reporter // reported only if the files themselves have no errors
}

func newBuilder(dir string, product dialect.Dialect, opts Options) *builder {
	g := newGrammar(product)
	return &builder{
		module: &Module{
			Dir: dir, Path: opts.Path, Options: opts, Files: map[string]*hcl.File{},
			required: map[string]*requiredProvider{}, configs: map[providerKey]*providerConfig{}, testProviders: map[string][]*providerConfig{}, grammar: g,
		},
		product: product,
		grammar: g,
		seen:    map[key]hcl.Range{},
		users:   map[key]*user{},
		calls:   map[string]*ModuleCall{},
		files:   files.System{FS: opts.FS},
		done:    opts.done,
		scope: static.NewScope(static.Paths{
			Root: opts.Path == "", Dir: dir, RootDir: opts.RootDir, WorkingDir: opts.WorkingDir, FS: opts.FS, Home: opts.HomeDir, Within: opts.Within,
			Workspace: opts.Workspace, Module: opts.Path, Called: opts.Called,
		}, product, opts.Inputs),
	}
}

// parse reads a file; nil if there is nothing to be had of it.
func (b *builder) parse(full string) hcl.Body {
	src, known := b.texts[full]
	if !known {
		var err error
		if src, err = b.files.Read(full, maxFileBytes); err != nil {
			b.found.report(diagnostic.Unreadable("Failed to read file", err))
			return nil
		}
	}
	file := b.outlined[full]
	if file == nil {
		var diags hcl.Diagnostics
		file, diags = b.parser.Parse(src, full)
		b.found.report(diags...)
	}
	if file == nil || file.Body == nil {
		return nil
	}
	b.module.Files[full] = file
	return file.Body
}

// isDeclared reports whether what a reference means is in the module. Names that
// stand for something else than resources and calls are.
func (b *builder) isDeclared(t hcl.Traversal) bool {
	block, rest := "resource", t
	switch root := t.RootName(); root {
	case "module":
		_, ok := b.calls[static.StepName(t, 1)]
		return ok
	case "data", "ephemeral", "action", "resource":
		block, rest = root, t[1:]
	case "self", "each", "count", "terraform", "run", "provider":
		return true
	}
	_, ok := b.users[key{block, static.StepName(rest, 0), static.StepName(rest, 1)}]
	return ok
}

// outlinedFrom is how many bytes the files of a directory have at least of which an outline is kept: parsing fewer takes four milliseconds.
const outlinedFrom = 16 << 10

// recall finds what an earlier run kept of the files in a directory, and fills in those that it has read.
func (b *builder) recall(names []string) {
	opts := b.module.Options
	sum, size := sha256.New(), 0
	fmt.Fprintf(sum, "%q %q %t", b.product.Name, b.product.Version, opts.Path == "")
	b.texts = map[string][]byte{}
	for _, name := range names {
		full := filepath.Join(b.module.Dir, name)
		text, err := b.files.Read(full, maxFileBytes)
		if err != nil {
			return // it is reported when the file is read again
		}
		fmt.Fprintf(sum, "%q %x", name, sha256.Sum256(text))
		b.texts[full], size = text, size+len(text)
	}
	if size < outlinedFrom && !opts.outlineAll {
		return
	}
	b.outlineKey = fmt.Sprintf("%x", sum.Sum(nil))
	content, ok := opts.Outlines.Get(b.outlineKey)
	var parts map[string][]static.Part // by the names without the directory
	if !ok || json.Unmarshal(content, &parts) != nil || len(parts) != len(names) {
		return
	}
	outlined := map[string]*hcl.File{}
	for full, text := range b.texts {
		if outlined[full], ok = b.parser.ParseParts(text, parts[filepath.Base(full)], full); !ok {
			return
		}
	}
	b.outlined = outlined
}

// keepOutline keeps what the files of a module without any problem have to say.
func (b *builder) keepOutline(store Outlines) {
	files := map[string]*hcl.File{}
	for full := range b.texts {
		if file := b.module.Files[full]; file != nil {
			files[filepath.Base(full)] = file
		}
	}
	if b.outlineKey == "" || b.outlined != nil || len(b.module.LeftToPlan) > 0 || len(files) < len(b.texts) {
		return
	}
	if parts, ok := outline.Of(files); ok {
		if content, err := json.Marshal(parts); err == nil {
			store.Put(b.outlineKey, content)
		}
	}
}
