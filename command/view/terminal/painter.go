package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// painter draws lines at the bottom of a terminal again and again, below all other
// lines. It is for one goroutine at a time.
type painter struct {
	out   Stream
	drawn []string // the lines that are on the terminal
	gone  bool     // the terminal couldn't be written to
}

// Escape sequences that erase to the end of the line, and of the terminal.
const (
	eraseLine  = "\x1b[K"
	eraseBelow = "\x1b[J"
)

// draw replaces the lines, and cuts those that are too long.
func (p *painter) draw(lines []string) {
	if len(lines)+len(p.drawn) > 0 && !p.gone {
		_ = p.frame(nil, lines)
	}
}

// print writes whole lines above the drawn ones, and replaces these by lines.
func (p *painter) print(text []byte, lines []string) (int, error) {
	if len(p.drawn) == 0 {
		return p.out.Write(text)
	}
	return len(text), p.frame(append([]byte(eraseBelow), text...), lines)
}

// frame writes all changes in one write.
func (p *painter) frame(above []byte, lines []string) error {
	var b bytes.Buffer
	p.up(&b)
	b.Write(above)
	p.put(&b, lines)
	_, err := p.out.Write(b.Bytes())
	if p.gone = err != nil; p.gone {
		p.drawn = nil
	}
	return err
}

// up moves the cursor to the beginning of the first drawn line. A terminal that became narrower has
// wrapped lines that don't fit any more.
func (p *painter) up(b *bytes.Buffer) {
	columns, _ := p.out.size()
	rows := 0
	for _, l := range p.drawn {
		rows += max((columnsOf(l)+columns-1)/columns, 1)
	}
	if rows > 0 {
		fmt.Fprintf(b, "\r\x1b[%dA", rows) // a key that was pressed may have moved the cursor to the right
	}
}

// put writes the lines, and removes what was there before.
func (p *painter) put(b *bytes.Buffer, lines []string) {
	columns, _ := p.out.size()
	p.drawn = nil
	for _, l := range lines {
		l = cut(l, columns-1) // some terminals wrap after the last column
		p.drawn = append(p.drawn, l)
		b.WriteString(l + eraseLine + "\n")
	}
	b.WriteString(eraseBelow)
}

// columnsOf returns how many columns of a terminal a text takes.
func columnsOf(text string) (n int) {
	for _, r := range text {
		n += columnsOfRune(r)
	}
	return n
}

func columnsOfRune(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	return 1
}

// cut shortens a text to a number of columns, at its end.
func cut(text string, columns int) string {
	if columnsOf(text) <= columns {
		return text
	}
	used := 1 // for the dots
	for i, r := range text {
		if used += columnsOfRune(r); used > columns {
			return text[:i] + "…"
		}
	}
	return text
}

// cutFront shortens a text to a number of columns, at its beginning, because the end of an address says most.
func cutFront(text string, columns int) string {
	over := columnsOf(text) - columns
	if over <= 0 {
		return text
	}
	for i, r := range text {
		if over < 0 {
			return "…" + text[i:]
		}
		over -= columnsOfRune(r)
	}
	return "…"
}

// padLeft is pad at the beginning.
func padLeft(text string, columns int) string {
	return strings.Repeat(" ", max(columns-columnsOf(text), 0)) + text
}

// pad fills a text with spaces up to a number of columns.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-columnsOf(text), 0))
}
