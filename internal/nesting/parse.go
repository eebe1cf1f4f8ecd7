package nesting

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
)

const (
	// pieceBytes is larger than files written by hand. The parser takes hundreds of bytes of memory for each byte of a
	// text, above all for invalid text, and frees most of them at the end.
	pieceBytes = 256 << 10

	// mostCopied is what the parser copies for a heredoc of 12,000 lines of 60 bytes, in two to four seconds.
	mostCopied = 6_000_000_000

	// MostProblems is the maximum number of problems of a file. Each takes half a kilobyte.
	MostProblems = 1000
)

// Parse is hclsyntax.ParseConfig, except that it parses a large text in pieces of whole arguments and blocks, and
// stops after [MostProblems] problems.
func Parse(src []byte, filename string) (*hcl.File, hcl.Diagnostics) {
	return parse(src, filename, pieceBytes)
}

func parse(src []byte, filename string, size int) (*hcl.File, hcl.Diagnostics) {
	var file *hcl.File
	var diags hcl.Diagnostics
	if wrong := longText(src, filename); wrong != nil {
		return nil, wrong
	}
	for at := hcl.InitialPos; file == nil || at.Byte < len(src) && len(diags) < MostProblems; {
		var wrong hcl.Diagnostics
		end := probableEnd(src, at.Byte, size)
		sure := end == 0
		if sure {
			end, wrong = pieceEnd(src, filename, at, size)
		}
		var piece *hcl.File
		var problems hcl.Diagnostics
		if wrong == nil {
			piece, problems = hclsyntax.ParseConfig(src[at.Byte:end], filename, at)
		}
		if problems.HasErrors() && !sure && end < len(src) {
			// The piece may end inside an argument or a block. If it does, there is an error, whatever
			// follows.
			if end, wrong = pieceEnd(src, filename, at, size); wrong == nil {
				piece, problems = hclsyntax.ParseConfig(src[at.Byte:end], filename, at)
			}
		}
		if wrong != nil {
			return file, append(diags, wrong...)
		}
		at = hcl.Pos{Line: at.Line + bytes.Count(src[at.Byte:end], []byte("\n")), Column: 1, Byte: end}
		diags = append(diags, problems...)
		if file == nil {
			file = piece
			file.Bytes = src
			continue
		}
		diags = append(diags, merge(file.Body.(*hclsyntax.Body), piece.Body.(*hclsyntax.Body))...)
	}
	return file, slices.Clone(diags[:min(len(diags), MostProblems)])
}

// longText returns a problem if the parser would take too long to join the lines of heredocs, or the parts of other
// templates.
func longText(src []byte, filename string) hcl.Diagnostics {
	pieces := bytes.Count(src, []byte("\n")) + bytes.Count(src, []byte("$")) + bytes.Count(src, []byte("%"))
	if pieces*(pieces*bytesOfPiece+len(src)) <= mostCopied {
		return nil
	}
	l, n := newLexer(src, filename, chunkBytes, hcl.InitialPos, math.MaxInt), newPosition()
	for tokens := l.next(); tokens != nil; tokens = l.next() {
		for _, token := range tokens {
			if n.read(token); n.copied > mostCopied {
				return hcl.Diagnostics{{
					Severity: hcl.DiagError,
					Summary:  "Text too long",
					Detail:   "The text that begins here has too many lines or parts, or it isn't closed. Put it into a file of its own.",
					Subject:  Place(src, filename, n.top().at),
				}}
			}
		}
	}
	return nil
}

// probableEnd returns where a piece may end: before a line that begins with a letter. Only parsing tells whether
// an argument or a block ends there. It returns 0 if there is no such line.
func probableEnd(src []byte, from, size int) int {
	end := from + size
	if end >= len(src) {
		return len(src)
	}
	for i := end - 1; i > from; i-- {
		if c := src[i] | 0x20; src[i-1] == '\n' && 'a' <= c && c <= 'z' {
			return i
		}
	}
	return 0
}

// pieceEnd returns where a piece really ends, by its tokens. If the piece extends to the end of a text of several
// pieces, and has a problem that is known already, pieceEnd returns that problem, so that the piece isn't parsed.
func pieceEnd(src []byte, filename string, at hcl.Pos, size int) (end int, wrong hcl.Diagnostics) {
	l := newLexer(src, filename, min(size, chunkBytes), at, math.MaxInt)
	n := newPosition()
	begin := 0 // the end of the part that firstError parses
	for tokens := l.next(); tokens != nil; tokens = l.next() {
		if begin < at.Byte+size {
			begin = l.at.Byte
		}
		for _, token := range tokens {
			n.read(token)
			end = token.Range.End.Byte
			if end-at.Byte >= size && len(n.open) == 1 && bytes.HasSuffix(token.Bytes, []byte("\n")) {
				return end, nil
			}
		}
	}
	large := len(src)-at.Byte >= 4*size
	switch {
	case large && len(l.problems) > 0:
		return len(src), l.problems
	case large && len(n.open) > 1:
		return len(src), hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Unclosed configuration block",
			Detail:   "What begins here isn't closed before the end of the file: a bracket, a quotation mark or the end of a heredoc is missing.",
			Subject:  Place(src, filename, n.open[1].at),
		}}
	case large:
		return len(src), firstError(src[:begin], filename, at)
	}
	return len(src), nil
}

// firstError returns the first error in the beginning of a piece, unless the error may come from cutting
// the piece there.
func firstError(begin []byte, filename string, at hcl.Pos) hcl.Diagnostics {
	const tail = 4 << 10
	_, problems := hclsyntax.ParseConfig(begin[at.Byte:], filename, at)
	if len(problems) == 0 || strings.HasPrefix(problems[0].Summary, "Un") || problems[0].Subject.End.Byte > len(begin)-tail {
		return nil // such as "Unclosed configuration block"
	}
	return problems[:1:1]
}

// merge adds a piece to whole, the pieces before it.
func merge(whole, piece *hclsyntax.Body) (diags hcl.Diagnostics) {
	for _, name := range slices.Sorted(maps.Keys(piece.Attributes)) {
		attr := piece.Attributes[name]
		if existing, ok := whole.Attributes[name]; ok {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Attribute redefined",
				Detail:   fmt.Sprintf("The argument %q was already set at %s. Each argument may be set only once.", name, existing.NameRange),
				Subject:  attr.NameRange.Ptr(),
			})
			continue
		}
		whole.Attributes[name] = attr
	}
	whole.Blocks = append(whole.Blocks, piece.Blocks...)
	whole.SrcRange.End, whole.EndRange = piece.SrcRange.End, piece.EndRange
	return diags
}

// ParseJSON is HCL's json.Parse, except that for a large text of invalid JSON it returns only the first error, and
// no file.
func ParseJSON(src []byte, filename string) (*hcl.File, hcl.Diagnostics) {
	if len(src) <= pieceBytes {
		return hcljson.Parse(src, filename)
	}
	wrong, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(src, new(struct{})))
	if !ok {
		return hcljson.Parse(src, filename)
	}
	return nil, hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Invalid JSON",
		Detail:   fmt.Sprintf("The file can't be read as JSON: %v.", wrong),
		Subject:  Place(src, filename, int(wrong.Offset)-1),
	}}
}

// Place returns the range of a byte.
func Place(src []byte, filename string, at int) *hcl.Range {
	at = min(max(at, 0), len(src))
	pos := hcl.Pos{Line: 1 + bytes.Count(src[:at], []byte("\n")), Column: at - bytes.LastIndexByte(src[:at], '\n'), Byte: at}
	return &hcl.Range{Filename: filename, Start: pos, End: pos}
}
