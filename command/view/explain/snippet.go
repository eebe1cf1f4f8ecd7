package explain

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcled"

	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/nesting"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/par"
)

// Snippet is the part of a source file that a problem is about.
type Snippet struct {
	Found     bool   // the file could be read, and has these lines
	Context   string // header of the outermost block around the problem; "" outside of blocks
	Code      string // whole lines, without the last line break
	StartLine int
	From, To  int // the part that is underlined, as byte offsets in Code
}

// source is the current content of a file.
type source struct {
	name string
	text []byte    // nil if the file can't be read
	file *hcl.File // nil if it can't be parsed
}

// snippet returns the part of a file that a problem is about, or nil if the problem isn't
// about a file. It reads the file again, so that sources
// needn't stay in memory until the end of a run.
func (s *Showing) snippet(p *hcl.Diagnostic) *Snippet {
	switch {
	case p.Subject == nil:
		return nil
	case s.ReadFile == nil:
		return &Snippet{}
	}
	if name := p.Subject.Filename; s.last == nil || s.last.name != name {
		text, _ := s.ReadFile(name)
		if s.hides(name) {
			text = nil
		}
		s.last = newSource(name, text)
	}
	if s.last.text == nil {
		return &Snippet{}
	}
	return s.last.cut(p)
}

// Hidden is a set of directories whose files aren't shown. The zero value and nil are empty. Many goroutines may use it.
type Hidden struct{ dirs par.Shared[string, struct{}] }

// Add adds a directory, whose path has no symlinks.
func (h *Hidden) Add(dir string) {
	if h != nil {
		h.dirs.Join(dir, func() struct{} { return struct{}{} })
	}
}

func (h *Hidden) has(dir string) bool { return h != nil && h.dirs.Has(dir) }

// hides reports whether a file isn't shown. A committer can have any file read, but not shown: neither a symlink to one of
// another repository or, outside of repositories, of another directory; nor one outside of the repository of the working
// directory; nor one in a hidden directory.
func (s *Showing) hides(name string) bool {
	full, err := filepath.Abs(name)
	target, targetErr := filepath.EvalSymlinks(full)
	dir, dirErr := filepath.EvalSymlinks(filepath.Dir(full))
	here, hereErr := filepath.Abs(s.Dir)
	here, physicalErr := filepath.EvalSymlinks(here)
	if errors.Join(err, targetErr, dirErr, hereErr, physicalErr) != nil { // such a file can't be read
		return false
	}

	if owner.Repository(filepath.Dir(target)) != owner.Repository(dir) || s.Hidden.has(filepath.Dir(target)) {
		return true
	}
	root, found := owner.FindRepository(here)
	rel, err := filepath.Rel(root, target)
	return found && (err != nil || !filepath.IsLocal(rel))
}

func newSource(name string, text []byte) *source {
	s := &source{name: name, text: text}
	isJSON := strings.HasSuffix(name, ".json")
	if len(text) > maxParsed { // no header is shown then
		return s
	}
	switch _, deep := nesting.Exceeds(text, isJSON, maxNesting); {
	case deep: // no header either
	case isJSON:
		s.file, _ = nesting.ParseJSON(text, name)
	default:
		s.file, _ = nesting.Parse(text, name)
	}
	return s
}

// cut returns the lines of the problem. It checks each position, because the file may have changed since
// it was parsed.
func (s *source) cut(p *hcl.Diagnostic) *Snippet {
	subject := Visible(*p.Subject)
	shown := subject
	if p.Context != nil {
		shown = hcl.RangeOver(*p.Context, subject)
	}
	first, last := shown.Start.Line, shown.End.Line
	snippet := &Snippet{Context: cutText(s.enclosing(subject.Start.Byte-1), mostQuoted), StartLine: first}
	var code strings.Builder
	number, at := 0, 0 // the line's number, and its byte offset
	for line := range bytes.SplitSeq(s.text, []byte("\n")) {
		if number++; first < 1 || number > last || code.Len() > maxCode && number > subject.Start.Line {
			break
		}
		// A range may end with the line break before its last line; Terraform shows that line, too, unless it is empty.
		isAfter := number == last && last > first && shown.End.Column <= 1 && len(line) == 0
		if number >= first && !isAfter {
			if code.Len() > maxCode { // the problem is further down
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
	snippet.Code = code.String()
	if hasSecrets(snippet.Code) {
		return &Snippet{}
	}
	snippet.To = max(snippet.To, snippet.From)
	return snippet
}

var (
	// password matches what may be a login with a password or token, in a URL or a part of one.
	password = par.OnceRegexp(`:[^"\s]*@`)
	// noPassword matches users that are no secrets, see [hosts.RedactAddress].
	noPassword = par.OnceRegexp(`(?:(?:git\+)?ssh(?:\+git)?://[^/:@"\s]+|git)@`)
	// mailAddress has neither a path nor a password.
	mailAddress = par.OnceRegexp(`^[^/:@\s]+@[^/:@\s]+$`)
)

// hasSecrets reports whether lines have what may be a login, or parameters of a signed URL. Such lines aren't shown.
func hasSecrets(code string) bool {
	if password().MatchString(noPassword().ReplaceAllString(code, "")) {
		return true
	}
	for line := range strings.Lines(code) {
		for part := range strings.SplitSeq(line, `"`) {
			isSecret := hosts.AddressHasSecrets(part, modules.Harmless...)
			if isSecret && !mailAddress().MatchString(part) {
				return true
			}
		}
	}
	return false
}

// maxCode bounds the bytes shown of a file, plus one line, because a problem may be about the whole file.
const maxCode = 8 << 10

// addLine adds at most mostQuoted letters of a line: those around the underlined part, else the first ones. It returns where in the code
// that part begins and ends, as far as it isn't before the line.
func addLine(code *strings.Builder, line string, from, to int, was Snippet) (begin, end int) {
	text := strings.TrimRight(line, "\r")
	first := 0
	if 0 <= from && from < len(text) {
		first = from
	}
	for range mostQuoted - utf8.RuneCountInString(firstLetters(text[first:], mostQuoted/2)) { // a line may have millions of letters, so they aren't all counted
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

// maxParsed is the maximum size of a file that is parsed for a header. A larger one may have been refused because parsing it
// takes gigabytes of memory.
const maxParsed = 1 << 20

// maxNesting is the maximum depth of a file that is parsed for a header. A stack overflow would end the process
// before it has printed the problem, and the parser of JSON takes time with the square of the depth.
const maxNesting = 1000

// enclosing returns the header of the block around an offset. cut passes the
// byte before a problem, as Terraform does: a header at the beginning of a file is in no block.
func (s *source) enclosing(offset int) string {
	if s.file == nil {
		return ""
	}
	return hcled.ContextString(s.file, offset)
}
