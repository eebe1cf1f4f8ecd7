package explain

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/terminal"
)

// Printer prints problems for people.
type Printer struct {
	Out, Err  terminal.Stream
	Warn      terminal.Stream // for warnings
	Apart     bool            // an empty line follows each problem, as in Terraform's commands but init
	Plain     bool            // no boxes
	Colorless bool
	Similar   Similar
	Showing   Showing
}

// Problems prints problems in the order given, with similar ones merged.
func (h *Printer) Problems(all problem.List) {
	h.Showing.Show(h.Similar.consolidate(ByModules(all)), h.problem)
}

// problem returns how many bytes it printed.
func (h *Printer) problem(p *problem.Problem, source *Snippet) (n int) {
	to, space := h.Err, ""
	if problem.IsIntroduction(p) {
		n, _ = fmt.Fprintf(to, "\n%s\n", terminal.Printable(p.Summary))
		return n
	}
	if problem.IsWarning(p) {
		to = h.Warn
	}
	if h.Apart {
		space = "\n"
	}
	if h.Plain {
		n, _ = fmt.Fprintf(to, "\n%s%s", h.text(to, terminal.Columns(to)-1, p, source), space)
		return n
	}
	text := h.text(to, terminal.Columns(to)-boxWidth, p, source)
	if p.Detail == "" && p.Subject == nil {
		text += "\n"
	}
	n, _ = fmt.Fprint(to, h.box(to, p.Severity, text)+space)
	return n
}

// text returns a problem wrapped to width columns: summary, source lines, detail.
func (h *Printer) text(to terminal.Stream, width int, p *problem.Problem, source *Snippet) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n\n",
		h.Paint(to, SeverityName(p.Severity)+": ", terminal.Bold+severityColor(p.Severity)),
		h.Paint(to, terminal.Printable(p.Summary), terminal.Bold)) // not wrapped, as in Terraform
	if source != nil {
		fmt.Fprintf(&b, "  on %s line %d", terminal.Printable(p.Subject.Filename), p.Subject.Start.Line)
		if source.Context != "" {
			fmt.Fprintf(&b, ", in %s", terminal.Printable(source.Context))
		}
		b.WriteString(":\n" + h.lines(to, source) + "\n")
	}
	if p.Detail != "" {
		fmt.Fprintln(&b, terminal.Wrap(terminal.Printable(p.Detail), width))
	}
	return terminal.Inert(b.String())
}

// lines returns the lines of a snippet, with the part between From and To underlined.
func (h *Printer) lines(to terminal.Stream, source *Snippet) string {
	if !source.Found {
		return "  (source code not available)\n"
	}
	var b strings.Builder
	number, offset := source.StartLine, 0
	for l := range strings.Lines(source.Code) {
		text := strings.TrimRight(l, "\r\n")
		from := min(max(source.From-offset, 0), len(text))
		end := min(max(source.To-offset, from), len(text))
		fmt.Fprintf(&b, "%4d: %s%s%s\n", number, terminal.Printable(text[:from]), h.Paint(to, terminal.Printable(text[from:end]), terminal.Underline), terminal.Printable(text[end:]))
		number++
		offset += len(l)
	}
	return b.String()
}

// SeverityName returns the first word of a headline.
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

// boxWidth is how many columns a box takes, with one column that stays free.
const boxWidth = 3

// box draws a line along the left side of text. As in Terraform, an empty line
// ends with a space, and a problem that is all summary has two empty lines below it.
func (h *Printer) box(to terminal.Stream, s hcl.DiagnosticSeverity, text string) string {
	esc := severityColor(s)
	var b strings.Builder
	fmt.Fprintln(&b, h.Paint(to, "╷", esc))
	for l := range strings.Lines(text) {
		fmt.Fprintf(&b, "%s %s\n", h.Paint(to, "│", esc), strings.TrimRight(l, "\n"))
	}
	fmt.Fprintln(&b, h.Paint(to, "╵", esc))
	return b.String()
}

// Paint puts escape sequences around a text, if the stream understands them.
func (h *Printer) Paint(to terminal.Stream, text, esc string) string {
	if h.Colorless || !to.Color || esc == "" || text == "" {
		return text
	}
	return esc + text + terminal.Reset
}
