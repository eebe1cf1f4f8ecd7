package view

import (
	"fmt"
	"strings"
	"unicode/utf8"

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
	out, err  Stream
	warn      Stream // for warnings
	apart     bool   // an empty line follows each problem, as in Terraform's commands but init
	plain     bool   // no boxes
	colorless bool
	similar   Similar
	sources   sources
	quota     quota
}

func (h *humanPrinter) line(l line) {
	if l.gap {
		fmt.Fprintln(h.out)
	}
	if l.human != "" {
		fmt.Fprintln(h.out, h.paint(h.out, Printable(l.human), l.style))
	}
}

func (h *humanPrinter) problems(all problem.List) {
	h.quota.show(h.similar.consolidate(byModules(all)), h.problem)
}

// problem returns how many bytes it has printed.
func (h *humanPrinter) problem(p *problem.Problem) (n int) {
	to := h.err
	if problem.IsIntroduction(p) {
		n, _ = fmt.Fprintf(to, "\n%s\n", Printable(p.Summary))
		return n
	}
	if problem.IsWarning(p) {
		to = h.warn
	}
	body := problemText{problem: p, source: h.sources.snippet(p), paint: func(text, esc string) string {
		return h.paint(to, text, esc)
	}}
	if h.plain {
		n, _ = fmt.Fprintf(to, "\n%s%s", body.render(columns(to)-1), h.space())
		return n
	}
	text := body.render(columns(to) - boxWidth)
	if p.Detail == "" && p.Subject == nil {
		text += "\n"
	}
	n, _ = fmt.Fprint(to, h.box(to, p.Severity, text)+h.space())
	return n
}

// space is what follows a problem.
func (h *humanPrinter) space() string {
	if h.apart {
		return "\n"
	}
	return ""
}

// boxWidth is what a box takes of a line, and one column that stays free.
const boxWidth = 3

// box draws a line along the left side of text. In Terraform's boxes a line without
// text has a space, too, and a problem that is all summary has two lines below it.
func (h *humanPrinter) box(to Stream, s hcl.DiagnosticSeverity, text string) string {
	esc := severityColor(s)
	var b strings.Builder
	fmt.Fprintln(&b, h.paint(to, "╷", esc))
	for l := range strings.Lines(text) {
		fmt.Fprintf(&b, "%s %s\n", h.paint(to, "│", esc), strings.TrimRight(l, "\n"))
	}
	fmt.Fprintln(&b, h.paint(to, "╵", esc))
	return b.String()
}

func (h *humanPrinter) paint(to Stream, text, esc string) string {
	if h.colorless || !to.Color || esc == "" || text == "" {
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

// unknownWidth is what Terraform takes where there is no terminal.
const unknownWidth = 78

// columns is how wide text may be on a stream. Below 20 columns wrapping doesn't help.
func columns(s Stream) int {
	if s.Width < 20 {
		return unknownWidth
	}
	return s.Width
}

// problemText is a problem on its way to people.
type problemText struct {
	problem *problem.Problem
	source  *snippet // nil: the problem isn't about a place in a file
	paint   func(text, esc string) string
}

// render writes the problem: summary, source lines, explanation.
func (t problemText) render(width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n\n",
		t.paint(severityName(t.problem.Severity)+": ", escBold+severityColor(t.problem.Severity)),
		t.paint(Printable(t.problem.Summary), escBold)) // which Terraform doesn't wrap either
	if t.source != nil {
		t.renderSource(&b)
	}
	if t.problem.Detail != "" {
		fmt.Fprintln(&b, wrap(Printable(detail(t.problem)), width))
	}
	return inert(b.String())
}

func (t problemText) renderSource(b *strings.Builder) {
	at := t.problem.Subject
	fmt.Fprintf(b, "  on %s line %d", Printable(at.Filename), at.Start.Line)
	if t.source.context != "" {
		fmt.Fprintf(b, ", in %s", Printable(t.source.context))
	}
	fmt.Fprintln(b, ":")
	if !t.source.found {
		fmt.Fprint(b, "  (source code not available)\n\n")
		return
	}
	number, offset := t.source.startLine, 0
	for l := range strings.Lines(t.source.code) {
		fmt.Fprintf(b, "%4d: %s\n", number, t.underline(strings.TrimRight(l, "\r\n"), offset))
		number++
		offset += len(l)
	}
	fmt.Fprintln(b)
}

// underline marks the part of a line that is at fault; the line begins at
// offset in the snippet's code.
func (t problemText) underline(text string, offset int) string {
	from := min(max(t.source.from-offset, 0), len(text))
	to := min(max(t.source.to-offset, from), len(text))
	return Printable(text[:from]) + t.paint(Printable(text[from:to]), escUnderline) + Printable(text[to:])
}

func severityName(s hcl.DiagnosticSeverity) string {
	if s == hcl.DiagWarning {
		return "Warning"
	}
	return "Error"
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
