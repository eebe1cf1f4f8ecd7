package depsfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/gocty"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/nesting"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// Load reads the file; a missing file is an empty Locks. Like Decode, it
// returns what could be read even if there are errors. What is no regular file,
// nor a link to one, isn't opened: a pipe would never end.
func Load(path string, product getproviders.Product) (*Locks, hcl.Diagnostics) {
	return LoadFS(nil, path, product)
}

// LoadFS is Load for a file in fsys; nil is the file system of the process.
func LoadFS(fsys fs.FS, path string, product getproviders.Product) (*Locks, hcl.Diagnostics) {
	src, err := wholefile.ReadFS(fsys, path, maxTextBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return &Locks{}, nil
	}
	if err != nil {
		return &Locks{}, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Failed to read file",
			Detail:   fmt.Sprintf("The dependency lock file can't be read: %s.", err),
		}}
	}
	return Decode(src, path, product)
}

// Save writes the file, atomically, if it differs from what is there: after a
// crash there is the old file or the new one. A symlink is followed or
// replaced, or is an error, as the package's documentation says. The file's mode is 0644.
func (l *Locks) Save(path string, product getproviders.Product) error {
	product = product.OrDefault()
	content := l.Encode(product)
	if wholefile.Has(path, content) {
		return nil
	}
	target, err := writableTarget(path, product)
	if err == nil {
		err = wholefile.WriteDurably(target, content, 0o644)
	}
	if err != nil {
		return fmt.Errorf("can't save the dependency lock file: %w", err)
	}
	return nil
}

// writableTarget returns what path points to if that may be written in its
// place, else path itself. A symlink in a directory from
// elsewhere must not lead to another file of the user's being overwritten, and the lock
// file of another repository decides what is installed there.
func writableTarget(path string, product getproviders.Product) (string, error) {
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != fs.ModeSymlink {
		return path, nil
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	target, err := filepath.EvalSymlinks(full)
	if errors.Is(err, fs.ErrNotExist) { // the link leads to nothing
		return path, nil
	}
	dir, dirErr := filepath.EvalSymlinks(filepath.Dir(full))
	if err := errors.Join(err, dirErr); err != nil {
		return "", err
	}
	if repository(filepath.Dir(target)) != repository(dir) {
		return "", fmt.Errorf("%s is a symbolic link to %s, which is in another repository or directory: replace the link by a copy of the file, or run the command where the file is",
			path, target)
	}
	info, err := os.Lstat(target)
	if err != nil || !info.Mode().IsRegular() || !ownedByUser(info) {
		return path, nil
	}
	if _, diags := Load(target, product); diags.HasErrors() {
		return path, nil
	}
	return target, nil
}

// repository is the nearest directory with an entry ".git" that a directory is in, or is itself; the directory
// where there is none.
func repository(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}

// What a lock file for anything else has in common with the one for providers
// is exported here.

// DecodeBlocks parses the text of a lock file and has its blocks decoded, as
// many of them as there are. All problems are returned; if version control left
// the marks of a merge conflict behind, that one alone. Text with more words and signs than
// limit isn't parsed.
func DecodeBlocks(src []byte, filename string, limit int, schema *hcl.BodySchema, decode func(hcl.Blocks) hcl.Diagnostics) hcl.Diagnostics {
	if diag := checkTokens(src, filename, limit); diag != nil {
		return hcl.Diagnostics{diag}
	}
	if diag := checkNesting(src, filename); diag != nil {
		return hcl.Diagnostics{diag}
	}
	file, diags := nesting.Parse(src, filename)
	if file != nil {
		content, more := file.Body.Content(schema)
		diags = append(diags, more...)
		diags = append(diags, decode(content.Blocks)...)
	}
	if conflict := findConflict(src, filename); conflict != nil && diags.HasErrors() {
		// What else is wrong with the file is a consequence.
		return hcl.Diagnostics{conflict}
	}
	return diags
}

// DecodeExpression evaluates an argument's value, which has to be constant, and stores it where into points to: into
// text, a bool or a list of these. A pointer to a pointer takes null, too. Not by package gohcl of the language: with
// that comes its writer, and with that half of what the program would do before main.
func DecodeExpression(expr hcl.Expression, into any) hcl.Diagnostics {
	value, diags := expr.Value(nil)
	wanted, err := gocty.ImpliedType(into)
	if err == nil {
		value, err = convert.Convert(value, wanted)
	}
	if err == nil {
		err = gocty.FromCtyValue(value, into)
	}
	if err != nil {
		diags = append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Unsuitable value type",
			Detail:   fmt.Sprintf("Unsuitable value: %s", err),
			Subject:  expr.StartRange().Ptr(),
			Context:  expr.Range().Ptr(),
		})
	}
	return diags
}

// Problem returns an error about a place in a lock file.
func Problem(at hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &at}
}

// maxTextBytes is thirty times what the largest lock files have. Parsing takes two hundred
// times as much memory.
const maxTextBytes = 8 << 20

// ReadText reads a regular file, or what a link to one leads to.
func ReadText(path string) ([]byte, error) { return wholefile.Read(path, maxTextBytes) }

// SaveText writes a file by one rename, if it hasn't that content already. A
// symlink is replaced. The file's mode is 0644. After a loss of power, too, there
// is the old file or the new one, and never half of one: all later runs trust it.
func SaveText(path string, content []byte) error {
	if wholefile.Has(path, content) {
		return nil
	}
	return wholefile.WriteDurably(path, content, 0o644)
}

// Encode returns the exact bytes that Terraform writes: a header that
// names the product's program, then one block for each provider, in order. The
// hashes of each are sorted, without duplicates, one in a line. Blocks for modules that
// the locks were read with come last, as they were.
func (l *Locks) Encode(product getproviders.Product) []byte {
	product = product.OrDefault()
	var out bytes.Buffer
	fmt.Fprintf(&out, "# This file is maintained automatically by %q.\n", product.Program+" init")
	out.WriteString("# Manual edits may be lost in future updates.\n")
	for _, lock := range l.All() {
		encodeLock(&out, lock)
	}
	for _, block := range l.orEmpty().modules {
		fmt.Fprintf(&out, "\n%s\n", block)
	}
	return out.Bytes()
}

// encodeLock writes a block. Neighbouring lines have their equals signs one
// below the other; a value that takes several lines is no neighbour.
func encodeLock(out *bytes.Buffer, lock Lock) {
	fmt.Fprintf(out, "\nprovider %s {\n", Quote(lock.Provider.String()))
	if lock.Constraints.IsEmpty() {
		fmt.Fprintf(out, "  version = %s\n", Quote(lock.Version.String()))
	} else {
		fmt.Fprintf(out, "  version     = %s\n", Quote(lock.Version.String()))
		fmt.Fprintf(out, "  constraints = %s\n", Quote(lock.Constraints.String()))
	}
	if len(lock.Hashes) > 0 {
		out.WriteString("  hashes = [\n")
		for _, hash := range getproviders.SortHashes(lock.Hashes) {
			fmt.Fprintf(out, "    %s,\n", Quote(string(hash)))
		}
		out.WriteString("  ]\n")
	}
	out.WriteString("}\n")
}

// Quote returns text as the language writes it: a hash that was typed by hand may hold anything.
func Quote(text string) string { return QuoteLabel(cty.NormalizeString(text)) }

// QuoteLabel is Quote for the label of a block, which is read without being normalized: a name may have a letter and
// its accent apart.
func QuoteLabel(text string) string {
	quoted := []byte{'"'}
	for i, r := range text {
		switch {
		case r == '\n':
			quoted = append(quoted, `\n`...)
		case r == '\r':
			quoted = append(quoted, `\r`...)
		case r == '\t':
			quoted = append(quoted, `\t`...)
		case r == '"', r == '\\':
			quoted = append(quoted, '\\', byte(r))
		case (r == '$' || r == '%') && strings.HasPrefix(text[i+1:], "{"):
			quoted = append(quoted, byte(r), byte(r)) // else a template would begin
		case unicode.IsPrint(r):
			quoted = utf8.AppendRune(quoted, r)
		case r < 1<<16:
			quoted = fmt.Appendf(quoted, `\u%04x`, r)
		default:
			quoted = fmt.Appendf(quoted, `\U%08x`, r)
		}
	}
	return string(append(quoted, '"'))
}
