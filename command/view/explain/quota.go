package explain

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
)

// What is shown of problems. People correct the first ones, and who wrote a configuration must not fill the log of its reader.
const (
	mostOfFile  = 50        // problems about places in one file
	mostOfRun   = 200       // problems
	mostBytes   = 512 << 10 // of all problems of a run
	mostDetail  = 16 << 10  // bytes of one explanation
	longestWord = 1000      // letters of a word in an explanation; addresses with signatures are as long
	mostQuoted  = 200       // letters of a line of a file, or of what is longer than a word
)

// Quota counts the problems that one printer has shown.
type Quota struct {
	shown, bytes int
	ofFile       map[string]int
}

// Show prints problems as long as there is room, and then says how many there are besides. The printer returns how
// many bytes it has printed.
func (q *Quota) Show(all problem.List, print func(*problem.Problem) int) {
	if q.ofFile == nil {
		q.ofFile = map[string]int{}
	}
	var hidden problem.List
	for _, p := range all {
		name := ""
		if p.Subject != nil {
			name = p.Subject.Filename
		}
		if q.shown >= mostOfRun || q.bytes >= mostBytes || name != "" && q.ofFile[name] >= mostOfFile {
			hidden = append(hidden, p)
			continue
		}
		q.shown++
		q.ofFile[name]++
		q.bytes += print(shortened(p))
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
	print(rest)
}

// shortened returns a problem whose texts have an end: names in them may have megabytes.
func shortened(p *problem.Problem) *problem.Problem {
	if len(p.Summary) <= longestWord && len(p.Detail) <= longestWord {
		return p
	}
	short := *p
	short.Summary, short.Detail = shortText(p.Summary), shortText(p.Detail)
	return &short
}

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

// cutText leaves the first letters of a text, and says that there were more.
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
