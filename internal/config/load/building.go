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
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// builder combines the files of a module.
type builder struct {
	module  *Module
	product dialect.Dialect
	grammar *grammar

	seen       map[key]hcl.Range // everything declared
	requiredAt hcl.Range         // the required_providers block; zero if none yet
	users      map[key]*user
	calls      map[string]*ModuleCall
	scope      *static.Scope
	files      files.System
	size       int             // of the files that were read
	links      map[string]bool // names of symlinks in the directory
	parser     static.Parser
	done       func() bool
	imports    []*importTarget
	state      stateBlocks

	texts      map[string][]byte    // content of files that were read first; nil if none
	outlineKey string               // cache key of their outline; "" means no cache
	outlined   map[string]*hcl.File // the files as far as the outline has them; nil means that all are parsed

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

// content returns the content of a file. A foreign module has no file that a symlink takes out of its package.
func (b *builder) content(full string) ([]byte, error) {
	opts := b.module.Options
	if opts.Path == "" || b.links[filepath.Base(full)] { // the test directory of a root module may be a symlink
		if _, err := b.files.Confine(opts.Within, full); err != nil {
			return nil, fmt.Errorf("%s is a symlink to another file: %w", full, err)
		}
	}
	src, err := b.files.Read(full, maxFileBytes)
	if b.size += len(src); b.size > maxDirBytes {
		err = fmt.Errorf("the files of %s are %w of %d bytes together", b.module.Dir, wholefile.ErrTooLarge, maxDirBytes)
	}
	return src, err
}

// parse reads and parses a file, or returns nil if it can't be read.
func (b *builder) parse(full string) hcl.Body {
	src, known := b.texts[full]
	if !known {
		var err error
		if src, err = b.content(full); err != nil {
			b.found.report(diagnostic.Unreadable("Failed to read file", err))
			if b.size > maxDirBytes { // reported once
				b.done = func() bool { return true }
			}
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

// isDeclared reports whether the module declares the object of a reference. Names of other objects
// than resources and calls count as declared.
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

// outlinedFrom is the least size of a directory's files, in bytes, for which an outline is kept: parsing smaller ones takes under four
// milliseconds.
const outlinedFrom = 16 << 10

// recall reads the files, and uses the outline that an earlier run kept of them.
func (b *builder) recall(names []string) {
	opts := b.module.Options
	sum, size := sha256.New(), 0
	fmt.Fprintf(sum, "%q %q %t", b.product.Name, b.product.Version, opts.Path == "")
	b.texts = map[string][]byte{}
	for _, name := range names {
		full := filepath.Join(b.module.Dir, name)
		text, err := b.content(full)
		if err != nil {
			return // the next read reports it
		}
		fmt.Fprintf(sum, "%q %x", name, sha256.Sum256(text))
		b.texts[full], size = text, size+len(text)
	}
	if size < outlinedFrom && !opts.outlineAll {
		return
	}
	b.outlineKey = fmt.Sprintf("%x", sum.Sum(nil))
	content, ok := opts.Outlines.Get(b.outlineKey)
	var parts map[string][]static.Part // by file name
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

// keepOutline stores an outline of the files of a module without problems.
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
