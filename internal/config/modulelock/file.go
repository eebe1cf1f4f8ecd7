package modulelock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/locktext"
	"github.com/tfdeps/tfdeps/internal/par"
)

// FileName is the lock file's name in the directory of the root module.
const FileName = ".tfdeps.modules.lock.hcl"

// Load reads the file; a missing file has no locks. Like Decode, it returns the valid locks even with errors. If ctx ends, that is
// an error, too: the largest files take seconds to parse.
func Load(ctx context.Context, path string) (Locks, hcl.Diagnostics) {
	locks, diags, err := par.Interruptible(ctx, func(context.Context) (Locks, hcl.Diagnostics) { return load(path) })
	if err != nil {
		return Locks{}, hcl.Diagnostics{diagnostic.Placeless("Failed to read file", "Reading the lock file for modules was interrupted: %s.", err)}
	}
	return locks, diags
}

func load(path string) (Locks, hcl.Diagnostics) {
	src, err := locktext.ReadText(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Locks{}, nil
	case err != nil:
		return Locks{}, hcl.Diagnostics{diagnostic.Placeless("Failed to read file", "The lock file for modules can't be read: %s.", err)}
	}
	return Decode(src, path)
}

// maxTokens allows eighty tokens for each call of the largest tree of modules.
const maxTokens = 800_000

// Save writes the file with mode 0644, by a rename, if its content changes.
func (l Locks) Save(path string) error {
	if err := locktext.SaveText(path, l.Encode()); err != nil {
		return fmt.Errorf("can't save the lock file for modules: %w", err)
	}
	return nil
}

var (
	fileSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "module", LabelNames: []string{"key"}},
	}}
	moduleSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "source", Required: true},
		{Name: "version"},
		{Name: "commit"},
		{Name: "hash", Required: true},
	}}
)

// Decode reads the content of a lock file; filename is for messages. It returns the valid locks
// even with errors.
func Decode(src []byte, filename string) (Locks, hcl.Diagnostics) {
	d := decoder{locks: Locks{}, seen: map[string]hcl.Range{}}
	diags := locktext.DecodeBlocks(src, filename, maxTokens, fileSchema, func(found *locktext.Decoder, blocks hcl.Blocks) {
		d.found = found
		for _, block := range blocks {
			d.decodeModule(block)
		}
	})
	return d.locks, diags
}

// decoder collects entries and problems.
type decoder struct {
	locks Locks
	seen  map[string]hcl.Range
	found *locktext.Decoder
}

// decodeModule reads a block. It drops a block with a problem, so that nothing counts as locked by
// mistake.
func (d *decoder) decodeModule(block *hcl.Block) {
	key, before := block.Labels[0], len(d.found.Problems)
	at := block.LabelRanges[0]
	if key == "" || !utf8.ValidString(key) {
		d.found.Problem(at, "Invalid module key", "A lock needs the names of the calls that lead to the module, joined by dots.")
	}
	if earlier, ok := d.seen[key]; ok {
		d.found.Problem(at, "Duplicate module lock", "There is a lock for the module %q already, at %s.", key, earlier)
	}
	d.seen[key] = at
	content, diags := block.Body.Content(moduleSchema)
	d.found.Problems = append(d.found.Problems, diags...)
	lock := Lock{
		Key:     key,
		Source:  d.text(content, "source", isPlain),
		Version: d.text(content, "version", isVersion),
		Commit:  d.text(content, "commit", isCommit),
		Hash:    getproviders.Hash(d.text(content, "hash", isHash)),
	}
	if len(d.found.Problems) == before {
		d.locks.Set(lock)
	}
}

// text reads an optional argument. check returns what the value should be, or "" if it is valid.
func (d *decoder) text(content *hcl.BodyContent, name string, check func(string) string) string {
	attr := content.Attributes[name]
	if attr == nil {
		return ""
	}
	var given *string // null differs from ""
	if !d.found.Decode(attr.Expr, &given) {
		return ""
	}
	if given == nil {
		d.found.Problem(attr.Expr.Range(), "Missing required argument", "The argument %q can't be null.", name)
		return ""
	}
	should := check(*given)
	if !utf8.ValidString(*given) {
		should = "in UTF-8"
	}
	if should != "" {
		d.found.Problem(attr.Expr.Range(), "Invalid module lock", "The %s that is locked has to be %s.", name, should)
	}
	return *given
}

func isPlain(source string) string {
	switch plain := plainSource(source); {
	case source == "":
		return "the address of a module"
	case plain != source:
		return fmt.Sprintf("without what may be a secret, and without parameters that don't matter: %q", plain)
	}
	return ""
}

func isVersion(given string) string {
	v, err := version.NewVersion(given)
	switch {
	case err != nil:
		return "a version"
	case v.String() != given:
		return fmt.Sprintf("written in its normalized form: %q", v)
	}
	return ""
}

func isCommit(given string) string {
	if (len(given) == 40 || len(given) == 64) && strings.Trim(given, "0123456789abcdef") == "" {
		return ""
	}
	return "the full name of a commit, 40 or 64 hex digits"
}

func isHash(given string) string {
	if h, err := getproviders.ParseHash(given); err == nil && h.Scheme() == hashing.H1 {
		return ""
	}
	return "a hash of the scheme \"h1\"; a file with others comes from a newer version of this program"
}

// header is the beginning of the file.
const header = `# This file is maintained automatically by "tfdeps init -lock-modules".
# Manual edits may be lost in future updates.
`

// argument is a line of a block.
type argument struct{ name, value string }

// Encode returns the content of the file. Equal locks have the same bytes.
func (l Locks) Encode() []byte {
	out := bytes.NewBufferString(header)
	for _, lock := range l.All() {
		arguments := slices.DeleteFunc([]argument{
			{"source", lock.Source},
			{"version", lock.Version},
			{"commit", lock.Commit},
			{"hash", string(lock.Hash)},
		}, func(a argument) bool { return a.value == "" })
		longest := 0
		for _, a := range arguments {
			longest = max(longest, len(a.name))
		}
		fmt.Fprintf(out, "\nmodule %s {\n", locktext.QuoteLabel(lock.Key))
		for _, a := range arguments {
			fmt.Fprintf(out, "  %-*s = %s\n", longest, a.name, locktext.Quote(a.value))
		}
		out.WriteString("}\n")
	}
	return out.Bytes()
}
