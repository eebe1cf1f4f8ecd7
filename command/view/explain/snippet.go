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
	if begin, end, ok := lineSpan(s.text, last, last); shown.End.Column <= 1 && last > first && (!ok || begin == end) {
		last-- // the range ends with the line break before it; Terraform shows the next line, too, if there is anything on it
	}
	start, end, ok := lineSpan(s.text, first, last)
	if !ok {
		return &Snippet{}
	}
	code := s.text[start:end]
	from := min(max(subject.Start.Byte-start, 0), len(code))
	to := min(max(subject.End.Byte-start, from), len(code))
	if begin, end := around(code, from); begin > 0 || end < len(code) {
		first += bytes.Count(code[:begin], []byte("\n"))
		code, from, to = code[begin:end], from-begin, min(to, end)-begin
	}
	short, from, to := cutLines(string(code), from, to)
	return &Snippet{Found: true, Context: cutText(s.enclosing(subject.Start.Byte-1), mostQuoted), Code: short, StartLine: first, From: from, To: to}
}

// maxCode is how much of a file is shown: a file of one line may have millions of bytes.
const maxCode = 8 << 10

// around is the part of the code, around what is at fault, that is shown: all of it, if that isn't too much.
func around(code []byte, from int) (begin, end int) {
	if len(code) <= maxCode {
		return 0, len(code)
	}
	begin = max(0, from-maxCode/2)
	end = min(len(code), begin+maxCode)
	for begin < end && !utf8.RuneStart(code[begin]) {
		begin++
	}
	for end < len(code) && end > begin && !utf8.RuneStart(code[end]) {
		end--
	}
	return begin, end
}

// cutLines leaves as many letters of each line as are quoted: those around what is at fault, else the first.
func cutLines(code string, from, to int) (short string, shortFrom, shortTo int) {
	var b strings.Builder
	at := 0
	for line := range strings.Lines(code) {
		text := strings.TrimRight(line, "\r\n")
		begin, end := 0, len(text)
		if letters := utf8.RuneCountInString(text); letters > mostQuoted {
			before := 0 // letters before what is at fault
			if at <= from && from < at+len(text) {
				before = utf8.RuneCountInString(text[:from-at])
			}
			begin = len(firstLetters(text, min(max(before-mostQuoted/2, 0), letters-mostQuoted)))
			end = begin + len(firstLetters(text[begin:], mostQuoted))
		}
		if at <= from {
			shortFrom = b.Len() + min(max(from-at-begin, 0), end-begin)
		}
		if at <= to {
			shortTo = b.Len() + min(max(to-at-begin, 0), end-begin)
		}
		b.WriteString(text[begin:end] + line[len(text):])
		at += len(line)
	}
	return b.String(), shortFrom, shortTo
}

// Visible makes an empty range one character long.
func Visible(r hcl.Range) hcl.Range {
	if r.Empty() {
		r.End.Byte++
		r.End.Column++
	}
	return r
}

// lineSpan returns where the lines first to last, counted from 1, are in src,
// without the last one's line break; ok is false if src doesn't have the first.
func lineSpan(src []byte, first, last int) (start, end int, ok bool) {
	if first < 1 || last < first {
		return 0, 0, false
	}
	for range first - 1 {
		n := bytes.IndexByte(src[start:], '\n')
		if n < 0 {
			return 0, 0, false
		}
		start += n + 1
	}
	end = start
	for line := first; ; line++ {
		n := bytes.IndexByte(src[end:], '\n')
		if n < 0 {
			return start, len(src), true
		}
		end += n
		if line == last {
			return start, end, true
		}
		end++
	}
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
