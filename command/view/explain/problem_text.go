package explain

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/terminal"
)

// problemText is a problem on its way to people.
type problemText struct {
	problem *problem.Problem
	source  *Snippet // nil: the problem isn't about a place in a file
	called  string   // see [Named]
	paint   func(text, esc string) string
}

// render writes the problem: summary, source lines, explanation.
func (t problemText) render(width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n\n",
		t.paint(SeverityName(t.problem.Severity)+": ", terminal.Bold+severityColor(t.problem.Severity)),
		t.paint(terminal.Printable(t.problem.Summary), terminal.Bold)) // which Terraform doesn't wrap either
	if t.source != nil {
		t.renderSource(&b)
	}
	if t.problem.Detail != "" {
		fmt.Fprintln(&b, terminal.Wrap(terminal.Printable(Detail(t.problem, t.called)), width))
	}
	return terminal.Inert(b.String())
}

func (t problemText) renderSource(b *strings.Builder) {
	at := t.problem.Subject
	fmt.Fprintf(b, "  on %s line %d", terminal.Printable(at.Filename), at.Start.Line)
	if t.source.Context != "" {
		fmt.Fprintf(b, ", in %s", terminal.Printable(t.source.Context))
	}
	fmt.Fprintln(b, ":")
	if !t.source.Found {
		fmt.Fprint(b, "  (source code not available)\n\n")
		return
	}
	number, offset := t.source.StartLine, 0
	for l := range strings.Lines(t.source.Code) {
		fmt.Fprintf(b, "%4d: %s\n", number, t.underline(strings.TrimRight(l, "\r\n"), offset))
		number++
		offset += len(l)
	}
	fmt.Fprintln(b)
}

// underline marks the part of a line that is at fault; the line begins at
// offset in the snippet's code.
func (t problemText) underline(text string, offset int) string {
	from := min(max(t.source.From-offset, 0), len(text))
	to := min(max(t.source.To-offset, from), len(text))
	return terminal.Printable(text[:from]) + t.paint(terminal.Printable(text[from:to]), terminal.Underline) + terminal.Printable(text[to:])
}

// SeverityName is the word that a headline begins with.
func SeverityName(s hcl.DiagnosticSeverity) string {
	if s == hcl.DiagWarning {
		return "Warning"
	}
	return "Error"
}

func severityColor(s hcl.DiagnosticSeverity) string {
	if s == hcl.DiagWarning {
		return terminal.Yellow
	}
	return terminal.Red
}
