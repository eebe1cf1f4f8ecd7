package explain

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcled"

	"github.com/tfdeps/tfdeps/internal/nesting"
)

// Snippet is the part of a source file that a problem is about.
type Snippet struct {
	Found     bool   // the file could be read, and has such lines
	Context   string // header of the outermost block around it; "" outside of blocks
	Code      string // whole lines, without the end of the last one
	StartLine int
	From, To  int // what is at fault, in bytes of code
}

// source is a file as it is now.
type source struct {
	name string
	text []byte    // nil if the file can't be read
	file *hcl.File // nil if it can't be parsed
}

// snippet returns what to show of a problem's source: nil if the problem isn't
// about a place in a file. The file is read again, because a problem is the end of
// a run and sources needn't be kept until then.
func (s *Showing) snippet(p *hcl.Diagnostic) *Snippet {
	switch {
	case p.Subject == nil:
		return nil
	case s.ReadFile == nil:
		return &Snippet{}
	}
	if name := p.Subject.Filename; s.last == nil || s.last.name != name {
		text, _ := s.ReadFile(name)
		s.last = newSource(name, text)
	}
	if s.last.text == nil {
		return &Snippet{}
	}
	return s.last.cut(p)
}

func newSource(name string, text []byte) *source {
	s := &source{name: name, text: text}
	isJSON := strings.HasSuffix(name, ".json")
	if len(text) > maxParsed { // goes without headers
		return s
	}
	switch _, deep := nesting.Exceeds(text, isJSON, maxNesting); {
	case deep: // likewise
	case isJSON:
		s.file, _ = nesting.ParseJSON(text, name)
	default:
		s.file, _ = nesting.Parse(text, name)
	}
	return s
}

// cut takes the lines of the problem out of the file. Files may have changed since
// they were parsed, so no position is trusted.
func (s *source) cut(p *hcl.Diagnostic) *Snippet {
	subject := Visible(*p.Subject)
	shown := subject
	if p.Context != nil {
		shown = hcl.RangeOver(*p.Context, subject)
	}
	first, last := shown.Start.Line, shown.End.Line
	snippet := &Snippet{Context: cutText(s.enclosing(subject.Start.Byte-1), mostQuoted), StartLine: first}
	var code strings.Builder
	number, at := 0, 0 // the line, and where it begins
	for line := range bytes.SplitSeq(s.text, []byte("\n")) {
		if number++; first < 1 || number > last || code.Len() > maxCode && number > subject.Start.Line {
			break
		}
		// A range may end with the line break before its last line; Terraform shows that line, too, if there is anything on it.
		isAfter := number == last && last > first && shown.End.Column <= 1 && len(line) == 0
		if number >= first && !isAfter {
			if code.Len() > maxCode { // what is at fault is further down
				code.Reset()
				*snippet = Snippet{Context: snippet.Context, StartLine: number}
			}
			if snippet.Found {
				code.WriteByte('\n')
			}
			snippet.Found = true
			snippet.From, snippet.To = addLine(&code, string(line), subject.Start.Byte-at, subject.End.Byte-at, *snippet)
		}
		at += len(line) + 1
	}
	if !snippet.Found {
		return &Snippet{}
	}
	snippet.Code, snippet.To = code.String(), max(snippet.To, snippet.From)
	return snippet
}

// maxCode is how much of a file is shown, in bytes and but for one line: a problem may be about all of it.
const maxCode = 8 << 10

// addLine adds as many letters of a line as are quoted: those around what is at fault, else the first. It returns where in the code
// that begins and ends, if that isn't before the line.
func addLine(code *strings.Builder, line string, from, to int, was Snippet) (begin, end int) {
	text := strings.TrimRight(line, "\r")
	first := 0
	if 0 <= from && from < len(text) {
		first = from
	}
	for range mostQuoted - utf8.RuneCountInString(firstLetters(text[first:], mostQuoted/2)) { // a line may have millions, so nothing counts all of them
		_, size := utf8.DecodeLastRuneInString(text[:first])
		first -= size
	}
	last := first + len(firstLetters(text[first:], mostQuoted))
	begin, end = was.From, was.To
	if from >= 0 {
		begin = code.Len() + min(max(from-first, 0), last-first)
	}
	if to >= 0 {
		end = code.Len() + min(max(to-first, 0), last-first)
	}
	code.WriteString(text[first:last] + line[len(text):])
	return begin, end
}

// Visible makes an empty range one character long.
func Visible(r hcl.Range) hcl.Range {
	if r.Empty() {
		r.End.Byte++
		r.End.Column++
	}
	return r
}

// maxParsed is the size of a file that is parsed for the sake of a header: it may have been refused because parsing it
// takes gigabytes.
const maxParsed = 1 << 20

// maxNesting is how often a parser may call itself for the sake of a header: a stack that overflows ends the process
// before it has printed what is wrong, and the parser of JSON takes the square of the depth.
const maxNesting = 1000

// enclosing names the block around an offset, as it is written. It is asked for the
// byte before a problem, as Terraform does: a header at the beginning of a file is in no block.
func (s *source) enclosing(offset int) string {
	if s.file == nil {
		return ""
	}
	return hcled.ContextString(s.file, offset)
}
