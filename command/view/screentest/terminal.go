// Package screentest emulates a terminal for tests: it renders output as a screen, which tests compare with another one.
// It understands the escape sequences of package view's bars, and ignores colours. For pages it has a browser, if
// one is installed.
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

// Terminal is a terminal, including the lines that were scrolled off its screen. Many goroutines may call its methods.
type Terminal struct {
	mu            sync.Mutex
	width, height int
	lines         [][]rune // all lines since the start
	row, column   int      // position of the cursor
	pending       string   // the beginning of an escape sequence
	seen          []string // the screen after each write
}

// New returns an empty terminal of width columns and height lines.
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

// obey executes an escape sequence.
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

// feed moves the cursor to the beginning of the next line.
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

// Text returns all lines of the terminal, including scrolled ones, without spaces and empty lines at the end.
func (t *Terminal) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text()
}

// History returns the results of Text after each write.
func (t *Terminal) History() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.seen)
}

// Shows reports whether Text ever matched a regular expression.
func (t *Terminal) Shows(pattern string) bool {
	return slices.ContainsFunc(t.History(), regexp.MustCompile(pattern).MatchString)
}
