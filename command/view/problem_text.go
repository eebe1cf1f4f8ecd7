package view

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
)

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

func severityColor(s hcl.DiagnosticSeverity) string {
	if s == hcl.DiagWarning {
		return escYellow
	}
	return escRed
}
