package terminal

import (
	"strings"
	"unicode/utf8"
)

// Escape sequences of terminals.
const (
	Reset     = "\x1b[0m"
	Bold      = "\x1b[1m"
	Underline = "\x1b[4m"
	Red       = "\x1b[31m"
	Green     = "\x1b[32m"
	Yellow    = "\x1b[33m"
)

// Wrap breaks the lines of text so that none has more than width characters,
// if words allow it. A line that begins with a space, such as an item of a list
// or a command, stays as it is.
func Wrap(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if !strings.HasPrefix(l, " ") {
			lines[i] = wrapLine(l, width)
		}
	}
	return strings.Join(lines, "\n")
}

func wrapLine(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	var b strings.Builder
	used := 0
	for i, word := range strings.Split(text, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > width:
			b.WriteByte('\n')
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}
