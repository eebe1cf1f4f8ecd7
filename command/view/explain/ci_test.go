package explain

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestProblems_AreNoCommandsOfCI puts commands of CI services into a registry's text, and prints it with boxes and
// without, wrapped to any width, and as JSON.
func TestProblems_AreNoCommandsOfCI(t *testing.T) {
	t.Parallel()
	const words = "the sources said aaaa ::set-output name=x::y and ##vso[task.setvariable variable=PATH]/x\n::error::z\n##[group]"
	p := problem.Warning("::warning::A warning", words)
	for width := 20; width < 100; width++ {
		for _, plain := range []bool{true, false} {
			var out bytes.Buffer
			h := &Printer{Err: terminal.Stream{Writer: &out, Width: width}, Warn: terminal.Stream{Writer: &out, Width: width}, Plain: plain}
			h.Problems(problem.List{p})
			for line := range strings.Lines(out.String()) {
				if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##") {
					t.Fatalf("%d columns: a command: %q", width, line)
				}
			}
		}
	}
	var out bytes.Buffer
	h := &Printer{Err: terminal.Stream{Writer: &out}, Plain: true, Showing: Showing{ReadFile: func(string) ([]byte, error) { return []byte("x = ##[group]"), nil }}}
	at := hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: 1, Byte: 5}, End: hcl.Pos{Line: 1, Column: 2, Byte: 6}} // the mark is between the two signs
	h.Problems(problem.List{problem.At(at, problem.Error("", "Wrong", ""))})
	must.Contain(t, out.String(), "x = #")
	must.NotContain(t, out.String(), "##[")
}
