package view

import (
	"strings"
	"unicode/utf8"
)

// Escape sequences of terminals.
const (
	escReset     = "\x1b[0m"
	escBold      = "\x1b[1m"
	escUnderline = "\x1b[4m"
	escRed       = "\x1b[31m"
	escGreen     = "\x1b[32m"
	escYellow    = "\x1b[33m"
)

// unknownWidth is what Terraform takes where there is no terminal.
const unknownWidth = 78

// columns is how wide text may be on a stream. Below 20 columns wrapping doesn't help.
func columns(s Stream) int {
	if s.Width < 20 {
		return unknownWidth
	}
	return s.Width
}

// wrap breaks the lines of text so that none has more than width characters,
// if words allow it. A line that begins with a space, such as an item of a list
// or a command, stays as it is.
func wrap(text string, width int) string {
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
