// Package screentest is a terminal for tests: what is written to it becomes a screen, to be compared with another one.
// It understands what the bars of package view use, and colours, which it leaves out. For pages it has a browser, where
// there is one.
//
//	screen := screentest.New(100, 30)
//	fmt.Fprint(screen, "one\ntwo\n")
//	screen.Text() // "one\ntwo"
package screentest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Terminal is a terminal with the lines that have left its screen at the top. Its methods may be called from many goroutines.
type Terminal struct {
	mu            sync.Mutex
	width, height int
	lines         [][]rune // from the first one that was ever written
	row, column   int      // of the cursor
	pending       string   // the beginning of a sequence
	seen          []string // the screen after each write
}

// New returns an empty terminal of so many columns and lines.
func New(width, height int) *Terminal {
	return &Terminal{width: width, height: height, lines: [][]rune{nil}}
}

var sequence = regexp.MustCompile(`^\x1b\[([0-9;?]*)([A-Za-z])`)

// Write implements io.Writer. It never fails.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := t.pending + string(p)
	t.pending = ""
	for rest != "" {
		if rest[0] == '\x1b' {
			found := sequence.FindStringSubmatch(rest)
			if found == nil {
				t.pending = rest
				break
			}
			t.obey(found[1], found[2])
			rest = rest[len(found[0]):]
			continue
		}
		r := []rune(rest)[0]
		rest = rest[len(string(r)):]
		t.put(r)
	}
	t.seen = append(t.seen, t.text())
	return len(p), nil
}

// obey carries out a sequence.
func (t *Terminal) obey(number, command string) {
	n, _ := strconv.Atoi(number)
	switch command {
	case "A":
		t.row = max(t.row-max(n, 1), len(t.lines)-t.height, 0)
	case "K":
		t.lines[t.row] = t.lines[t.row][:min(t.column, len(t.lines[t.row]))]
	case "J":
		t.lines[t.row] = t.lines[t.row][:min(t.column, len(t.lines[t.row]))]
		t.lines = t.lines[:t.row+1]
	}
}

func (t *Terminal) put(r rune) {
	switch r {
	case '\r':
		t.column = 0
		return
	case '\n':
		t.feed()
		return
	}
	if t.column >= t.width {
		t.feed()
	}
	line := t.lines[t.row]
	for len(line) <= t.column {
		line = append(line, ' ')
	}
	line[t.column] = r
	t.lines[t.row] = line
	t.column++
}

// feed goes to the beginning of the next line.
func (t *Terminal) feed() {
	if t.row++; t.row == len(t.lines) {
		t.lines = append(t.lines, nil)
	}
	t.column = 0
}

func (t *Terminal) text() string {
	var b strings.Builder
	for _, line := range t.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// Text is all that is on the terminal now, what was scrolled up included, without spaces and empty lines at the end.
func (t *Terminal) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text()
}

// History is what Text was after each write.
func (t *Terminal) History() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.seen)
}

// Shows reports whether Text ever matched a regular expression.
func (t *Terminal) Shows(pattern string) bool {
	return slices.ContainsFunc(t.History(), regexp.MustCompile(pattern).MatchString)
}
