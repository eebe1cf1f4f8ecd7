package view

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
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

// humanPrinter speaks to people.
type humanPrinter struct {
	out, err Stream
	plain    bool
	sources  sources
}

// version says nothing: people ask for it when they want to know.
func (h *humanPrinter) version(string, string) {}

func (h *humanPrinter) message(m message) {
	text := m.text
	switch m.style {
	case heading:
		text = h.paint(h.out, text, escBold)
	case success:
		text = h.paint(h.out, text, escBold+escGreen)
	case good:
		text = h.paint(h.out, text, escGreen)
	}
	if m.gap {
		h.gap()
	}
	fmt.Fprintln(h.out, text)
}

func (h *humanPrinter) line(l line) {
	if l.human != "" {
		fmt.Fprintln(h.out, printable(l.human))
	}
}

func (h *humanPrinter) gap() { fmt.Fprintln(h.out) }

func (h *humanPrinter) problem(p *problem.Problem) {
	to := h.err
	body := problemText{problem: p, source: h.sources.snippet(p), paint: func(text, esc string) string {
		return h.paint(to, text, esc)
	}}
	if h.plain {
		fmt.Fprintf(to, "\n%s", body.render(columns(to)-1))
		return
	}
	fmt.Fprint(to, h.box(to, p.Severity, body.render(columns(to)-boxWidth)))
}

// boxWidth is what a box takes of a line, and one column that stays free.
const boxWidth = 3

// box draws a line along the left side of text.
func (h *humanPrinter) box(to Stream, s hcl.DiagnosticSeverity, text string) string {
	esc := severityColor(s)
	var b strings.Builder
	fmt.Fprintln(&b, h.paint(to, "╷", esc))
	for l := range strings.Lines(strings.TrimRight(text, "\n")) {
		side := h.paint(to, "│", esc)
		if l = strings.TrimRight(l, "\n"); l != "" {
			side += " "
		}
		fmt.Fprintf(&b, "%s%s\n", side, l)
	}
	fmt.Fprintln(&b, h.paint(to, "╵", esc))
	return b.String()
}

func (h *humanPrinter) paint(to Stream, text, esc string) string {
	if h.plain || !to.Color || esc == "" || text == "" {
		return text
	}
	return esc + text + escReset
}

func severityColor(s hcl.DiagnosticSeverity) string {
	if s == hcl.DiagWarning {
		return escYellow
	}
	return escRed
}

// columns is how wide text may be on a stream. The real tool takes 78 where
// there is no terminal; below 20 columns wrapping helps nobody.
func columns(s Stream) int {
	if s.Width < 20 {
		return 78
	}
	return s.Width
}
