package explain

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/terminal"
)

// Printer shows problems to people.
type Printer struct {
	Out, Err  terminal.Stream
	Warn      terminal.Stream // for warnings
	Apart     bool            // an empty line follows each problem, as in Terraform's commands but init
	Plain     bool            // no boxes
	Colorless bool
	Similar   Similar
	Sources   Sources
	Called    string // see [Named]
	quota     Quota
}

// Problems shows problems in the order given, those of one kind together.
func (h *Printer) Problems(all problem.List) {
	h.quota.Show(h.Similar.consolidate(ByModules(all)), h.problem)
}

// problem returns how many bytes it has printed.
func (h *Printer) problem(p *problem.Problem) (n int) {
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
	body := problemText{problem: p, source: h.Sources.Snippet(p), called: h.Called, paint: func(text, esc string) string {
		return h.Paint(to, text, esc)
	}}
	if h.Plain {
		n, _ = fmt.Fprintf(to, "\n%s%s", body.render(terminal.Columns(to)-1), space)
		return n
	}
	text := body.render(terminal.Columns(to) - boxWidth)
	if p.Detail == "" && p.Subject == nil {
		text += "\n"
	}
	n, _ = fmt.Fprint(to, h.box(to, p.Severity, text)+space)
	return n
}

// boxWidth is what a box takes of a line, and one column that stays free.
const boxWidth = 3

// box draws a line along the left side of text. In Terraform's boxes a line without
// text has a space, too, and a problem that is all summary has two lines below it.
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
