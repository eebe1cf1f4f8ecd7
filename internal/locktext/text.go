// Package locktext reads and writes the syntax of lock files: HCL with constant values, of a limited size.
package locktext

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/gocty"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/nesting"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// findConflict returns an error about the first merge conflict marker, or nil.
func findConflict(src []byte, filename string) *hcl.Diagnostic {
	offset, number := 0, 1
	for line := range bytes.Lines(src) {
		if bytes.HasPrefix(line, []byte("<<<<<<<")) || bytes.HasPrefix(line, []byte(">>>>>>>")) {
			text := bytes.TrimRight(line, "\r\n")
			at := hcl.Range{
				Filename: filename,
				Start:    hcl.Pos{Line: number, Column: 1, Byte: offset},
				End:      hcl.Pos{Line: number, Column: len(text) + 1, Byte: offset + len(text)},
			}
			return diagnostic.Error(at, "Argument or block definition required",
				"This line was left behind by a merge conflict. Look at what both sides lock, and keep one of them; the next init adds what it lacks.")
		}
		offset += len(line)
		number++
	}
	return nil
}

// DecodeBlocks parses the text of a lock file and passes its blocks to decode, which reports their problems. It returns
// all problems; if the text has merge conflict markers, only that one. It doesn't parse text with more than limit tokens,
// as CheckTokens counts them.
func DecodeBlocks(src []byte, filename string, limit int, schema *hcl.BodySchema, decode func(*Decoder, hcl.Blocks)) hcl.Diagnostics {
	if diag := CheckLimits(src, filename, limit); diag != nil {
		return hcl.Diagnostics{diag}
	}
	file, diags := nesting.Parse(src, filename)
	if file != nil {
		content, more := file.Body.Content(schema)
		found := &Decoder{append(diags, more...)}
		decode(found, content.Blocks)
		diags = found.Problems
	}
	if conflict := findConflict(src, filename); conflict != nil && diags.HasErrors() {
		// The other problems follow from the conflict.
		return hcl.Diagnostics{conflict}
	}
	return diags
}

// DecodeExpression evaluates an argument's value, which must be constant, and stores it at into: a pointer to a
// string, a bool or a list of these. A pointer to a pointer accepts null, too. It doesn't use HCL's package gohcl,
// which would add HCL's writer, and with that half of the program's initialization time.
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
		diag := diagnostic.Error(expr.StartRange(), "Unsuitable value type", "Unsuitable value: %s", err)
		diag.Context = expr.Range().Ptr()
		diags = append(diags, diag)
	}
	return diags
}

// Decoder collects the problems of a file.
type Decoder struct{ Problems hcl.Diagnostics }

// Problem adds an error at a range of the text.
func (d *Decoder) Problem(at hcl.Range, summary, format string, args ...any) {
	d.Problems = append(d.Problems, diagnostic.Error(at, summary, format, args...))
}

// Decode evaluates an expression like [DecodeExpression], and returns false if there is a problem.
func (d *Decoder) Decode(expr hcl.Expression, into any) bool {
	diags := DecodeExpression(expr, into)
	d.Problems = append(d.Problems, diags...)
	return !diags.HasErrors()
}

// MaxBytes is thirty times the size of the largest known lock files. Parsing takes two hundred
// times as much memory.
const MaxBytes = 8 << 20

// ReadText reads a regular file, or the target of a symlink.
func ReadText(path string) ([]byte, error) { return wholefile.Read(path, MaxBytes) }

// SaveText writes a file by one rename, unless it has that content already. It replaces a symlink.
// The file's mode is 0644. Even after a power loss there is either the old file or the new one,
// because all later runs trust it.
func SaveText(path string, content []byte) error {
	if wholefile.Has(path, content) {
		return nil
	}
	return wholefile.WriteDurably(path, content, 0o644)
}

// Quote returns text as an HCL string literal. Hashes typed by hand may have any characters.
func Quote(text string) string { return QuoteLabel(cty.NormalizeString(text)) }

// QuoteLabel is Quote for a block label. HCL doesn't normalize labels, so a letter and its combining accent stay
// separate.
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
			quoted = append(quoted, byte(r), byte(r)) // doubled, or a template would begin
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

// CheckLimits refuses text that takes much time or memory to parse, or all of the stack.
func CheckLimits(src []byte, filename string, limit int) *hcl.Diagnostic {
	if diag := CheckTokens(src, filename, limit); diag != nil {
		return diag
	}
	return checkNesting(src, filename)
}

// MaxTokens is eight times the number in the largest known lock files, which have some 30 000
// hashes. The parser takes one to two microseconds for each token, and can't be interrupted.
const MaxTokens = 250_000

// CheckTokens refuses text that takes long to parse: the time depends on the tokens rather than the
// bytes, above all on invalid ones.
func CheckTokens(src []byte, filename string, limit int) *hcl.Diagnostic {
	count, at := nesting.CountTokens(src, limit, false)
	if count <= limit {
		return nil
	}
	return diagnostic.Error(*nesting.Place(src, filename, at), "Lock file too large",
		"Up to here the file has more than %d words and signs, which no lock file needs. Find out who wrote it, and take an earlier one from your version control.", limit)
}

// maxNesting is far above the 2 levels of lock files.
const maxNesting = 1000

// checkNesting refuses text that would make the parser recurse until the stack overflows, which a
// program can't recover from.
func checkNesting(src []byte, filename string) *hcl.Diagnostic {
	at, deep := nesting.Exceeds(src, false, maxNesting)
	if !deep {
		return nil
	}
	return diagnostic.Error(*nesting.Place(src, filename, at), "Invalid expression",
		"This is nested too deeply for a dependency lock file. Find out who wrote it, and take an earlier one from your version control.")
}
