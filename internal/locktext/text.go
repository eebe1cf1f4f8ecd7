// Package locktext reads and writes the text that lock files are made of: HCL with constant values, of a limited size.
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

// findConflict returns an error about the first line that version control
// left behind in a merge conflict, or nil.
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

// DecodeBlocks parses the text of a lock file and has its blocks decoded, as
// many of them as there are, by a function that reports their problems. All problems are returned; if version control left
// the marks of a merge conflict behind, that one alone. Text with more words and signs than
// limit isn't parsed.
func DecodeBlocks(src []byte, filename string, limit int, schema *hcl.BodySchema, decode func(*Decoder, hcl.Blocks)) hcl.Diagnostics {
	if diag := CheckTokens(src, filename, limit); diag != nil {
		return hcl.Diagnostics{diag}
	}
	if diag := checkNesting(src, filename); diag != nil {
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
		diag := diagnostic.Error(expr.StartRange(), "Unsuitable value type", "Unsuitable value: %s", err)
		diag.Context = expr.Range().Ptr()
		diags = append(diags, diag)
	}
	return diags
}

// Decoder collects the problems of a file.
type Decoder struct{ Problems hcl.Diagnostics }

// Problem adds an error about the text at a range.
func (d *Decoder) Problem(at hcl.Range, summary, format string, args ...any) {
	d.Problems = append(d.Problems, diagnostic.Error(at, summary, format, args...))
}

// Decode reads the value of an expression, as [DecodeExpression] does; false if there is a problem.
func (d *Decoder) Decode(expr hcl.Expression, into any) bool {
	diags := DecodeExpression(expr, into)
	d.Problems = append(d.Problems, diags...)
	return !diags.HasErrors()
}

// MaxBytes is thirty times what the largest lock files have. Parsing takes two hundred
// times as much memory.
const MaxBytes = 8 << 20

// ReadText reads a regular file, or what a link to one leads to.
func ReadText(path string) ([]byte, error) { return wholefile.Read(path, MaxBytes) }

// SaveText writes a file by one rename, if it hasn't that content already. A
// symlink is replaced. The file's mode is 0644. After a loss of power, too, there
// is the old file or the new one, and never half of one: all later runs trust it.
func SaveText(path string, content []byte) error {
	if wholefile.Has(path, content) {
		return nil
	}
	return wholefile.WriteDurably(path, content, 0o644)
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

// MaxTokens is eight times what the largest lock files have: some 30 000 hashes. The parser
// takes one to two microseconds for each, and can't be interrupted.
const MaxTokens = 250_000

// CheckTokens refuses text that takes long to parse: what costs is not the bytes but the
// tokens, and above all those that make no sense. It counts signs and words without
// knowing what is text and what is comment, so that there are no more tokens than that.
// What is left uncounted is blanks, of which the parser makes no tokens.
func CheckTokens(src []byte, filename string, limit int) *hcl.Diagnostic {
	count, inWord := 0, false
	for i, c := range src {
		isWord := c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if c != ' ' && c != '\t' && !(isWord && inWord) {
			count++
		}
		inWord = isWord
		if count > limit {
			return diagnostic.Error(*nesting.Place(src, filename, i), "Lock file too large",
				"Up to here the file has more than %d words and signs, which no lock file needs. Find out who wrote it, and take an earlier one from your version control.", limit)
		}
	}
	return nil
}

// maxNesting is far above what a lock file needs, which is 2.
const maxNesting = 1000

// checkNesting refuses what would make the parser call itself so often that
// the program's stack overflows, which nothing could catch.
func checkNesting(src []byte, filename string) *hcl.Diagnostic {
	at, deep := nesting.Exceeds(src, false, maxNesting)
	if !deep {
		return nil
	}
	return diagnostic.Error(*nesting.Place(src, filename, at), "Invalid expression",
		"This is nested too deeply for a dependency lock file. Find out who wrote it, and take an earlier one from your version control.")
}
