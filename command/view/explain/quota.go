package explain

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
)

// Limits for printed problems. People correct the first ones, and a hostile configuration must not fill the reader's log.
const (
	mostOfFile  = 50        // problems about places in one file
	mostOfRun   = 200       // problems
	mostBytes   = 512 << 10 // of all problems of a run
	mostDetail  = 16 << 10  // bytes of one problem's detail
	longestWord = 1000      // letters of a word in a detail; signed URLs are that long
	mostQuoted  = 200       // letters of a quoted line, or of a word longer than longestWord
)

// Showing shows the problems of a run within the limits, each with its snippet of a file.
type Showing struct {
	ReadFile func(name string) ([]byte, error) // reads a file; nil means that no lines are shown
	Dir      string                            // the working directory; "" means that of the process
	Hidden   *Hidden                           // files that aren't shown

	shown, bytes int
	ofFile       map[string]int
	last         *source // problems come file by file, and there may be thousands in one
}

// Show prints problems within the limits, and then the number of the others. print gets each problem, shortened and in plain words,
// and its snippet, or nil if it is about no file. It returns how many bytes it has printed.
func (s *Showing) Show(all problem.List, print func(*problem.Problem, *Snippet) int) {
	if s.ofFile == nil {
		s.ofFile = map[string]int{}
	}
	var hidden problem.List
	for _, p := range all {
		name := ""
		if p.Subject != nil {
			name = p.Subject.Filename
		}
		if s.shown >= mostOfRun || s.bytes >= mostBytes || name != "" && s.ofFile[name] >= mostOfFile {
			hidden = append(hidden, p)
			continue
		}
		s.shown++
		s.ofFile[name]++
		s.bytes += print(told(p), s.snippet(p))
	}
	if len(hidden) == 0 {
		return
	}
	rest := problem.Errorf("invalid_configuration", fmt.Sprintf("And %d more", len(hidden)),
		"At most %d problems of a file are shown, and %d of a run. Correct these first: there may be more in what wasn't read because of them.",
		mostOfFile, mostOfRun)
	if !hidden.HasErrors() {
		rest = problem.AsWarnings(problem.List{rest})[0]
	}
	print(rest, nil)
}

// told returns a problem as it is shown: shortened, and in plain words.
func told(p *problem.Problem) *problem.Problem {
	told := *p
	told.Summary, told.Detail = shortText(p.Summary), plainWords(shortText(p.Detail)+unquoted(p))
	return &told
}

// shortText shortens a text, because names in it may have megabytes.
func shortText(text string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(text, " ") {
		if b.Len() >= mostDetail {
			return b.String() + "..."
		}
		if len(word) > longestWord {
			word = cutText(word, mostQuoted)
		}
		b.WriteString(word + " ")
	}
	return strings.TrimSuffix(b.String(), " ")
}

// cutText returns the first letters of a text, with "..." if there are more.
func cutText(text string, most int) string {
	if first := firstLetters(text, most); len(first) < len(text) {
		return first + "..."
	}
	return text
}

func firstLetters(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return text[:i]
		}
	}
	return text
}

// Similar says which problems are merged into one for people: those with the same summary that are
// about places in files. The zero value merges warnings, as Terraform and OpenTofu do.
type Similar struct {
	KeepWarnings bool // warnings aren't merged
	JoinErrors   bool // errors are merged, too
}

// consolidate returns the first problem of each group, in order, with the number of
// the others.
func (s Similar) consolidate(all problem.List) problem.List {
	return together(all, s.group, func(detail string, others problem.List) string {
		kind := strings.ToLower(SeverityName(others[0].Severity))
		text := fmt.Sprintf("(and %d more similar %ss elsewhere)", len(others), kind)
		if len(others) == 1 {
			text = fmt.Sprintf("(and one more similar %s elsewhere)", kind)
		}
		return strings.TrimPrefix(detail+"\n\n"+text, "\n\n")
	})
}

// group returns the key of the problems that are merged, or "" for a problem that isn't.
func (s Similar) group(p *problem.Problem) string {
	joined := s.JoinErrors && p.Severity == hcl.DiagError
	if problem.IsWarning(p) {
		joined = !s.KeepWarnings
	}
	if p.Subject == nil || !joined {
		return ""
	}
	return SeverityName(p.Severity) + " " + p.Summary
}
