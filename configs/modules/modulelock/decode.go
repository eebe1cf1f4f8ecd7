package modulelock

import (
	"fmt"
	"regexp"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

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

// Decode reads the content of a lock file; filename is for messages. Locks is
// usable (holds what could be read) even if there are errors.
func Decode(src []byte, filename string) (*Locks, hcl.Diagnostics) {
	d := decoder{locks: &Locks{}, seen: map[string]hcl.Range{}}
	diags := depsfile.DecodeBlocks(src, filename, fileSchema, func(blocks hcl.Blocks) hcl.Diagnostics {
		for _, block := range blocks {
			d.decodeModule(block)
		}
		return d.diags
	})
	return d.locks, diags
}

// decoder collects entries and problems.
type decoder struct {
	locks *Locks
	seen  map[string]hcl.Range
	diags hcl.Diagnostics
}

// problem records an error about the text at a range.
func (d *decoder) problem(at hcl.Range, summary, format string, args ...any) {
	d.diags = append(d.diags, depsfile.Problem(at, summary, format, args...))
}

// decodeModule reads a block. One with a problem is no entry: nothing may pass
// for locked that isn't.
func (d *decoder) decodeModule(block *hcl.Block) {
	key, before := block.Labels[0], len(d.diags)
	at := block.LabelRanges[0]
	if key == "" {
		d.problem(at, "Invalid module key", "A lock needs the names of the calls that lead to the module, joined by dots.")
	}
	if earlier, ok := d.seen[key]; ok {
		d.problem(at, "Duplicate module lock", "There is a lock for the module %q already, at %s.", key, earlier)
	}
	d.seen[key] = at
	content, diags := block.Body.Content(moduleSchema)
	d.diags = append(d.diags, diags...)
	lock := Lock{
		Key:     key,
		Source:  d.text(content, "source", isPlain),
		Version: d.text(content, "version", isVersion),
		Commit:  d.text(content, "commit", isCommit),
		Hash:    getproviders.Hash(d.text(content, "hash", isHash)),
	}
	if len(d.diags) == before {
		d.locks.Set(lock)
	}
}

// text reads an argument, which may be missing; check says what its value has
// to be, or "".
func (d *decoder) text(content *hcl.BodyContent, name string, check func(string) string) string {
	attr := content.Attributes[name]
	if attr == nil {
		return ""
	}
	var given *string // null is told apart from ""
	if diags := gohcl.DecodeExpression(attr.Expr, nil, &given); diags.HasErrors() {
		d.diags = append(d.diags, diags...)
		return ""
	}
	if given == nil {
		d.problem(attr.Expr.Range(), "Missing required argument", "The argument %q can't be null.", name)
		return ""
	}
	if should := check(*given); should != "" {
		d.problem(attr.Expr.Range(), "Invalid module lock", "The %s that is locked has to be %s.", name, should)
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

var commit = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

func isCommit(given string) string {
	if commit.MatchString(given) {
		return ""
	}
	return "the full name of a commit, 40 or 64 hex digits"
}

func isHash(given string) string {
	if h, err := getproviders.ParseHash(given); err == nil && h.Scheme() == getproviders.SchemeH1 {
		return ""
	}
	return "a hash of the scheme \"h1\"; a file with others comes from a newer version of this program"
}
