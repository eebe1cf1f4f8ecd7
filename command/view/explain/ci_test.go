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

// TestProblems_AreNoCommandsOfCI has the words of a registry be commands, as text with boxes and
// without, wrapped to any width, and as JSON.
func TestProblems_AreNoCommandsOfCI(t *testing.T) {
	t.Parallel()
	const words = "the sources said aaaa ::set-output name=x::y and ##vso[task.setvariable variable=PATH]/x\n::error::z\n##[group]"
	p := problem.Warning("::warning::A warning", words)
	for width := 20; width < 100; width++ {
		for _, plain := range []bool{true, false} {
			var out bytes.Buffer
			h := &Printer{Err: terminal.Stream{Writer: &out, Width: width}, Warn: terminal.Stream{Writer: &out, Width: width}, Plain: plain}
			h.problem(p)
			for line := range strings.Lines(out.String()) {
				if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##") {
					t.Fatalf("%d columns: a command: %q", width, line)
				}
			}
		}
	}
	parts := problemText{problem: &problem.Problem{Subject: &hcl.Range{Filename: "main.tf"}}, paint: func(text, _ string) string { return text },
		source: &Snippet{Found: true, Code: "x = ##[group]", StartLine: 1, From: 5, To: 6}} // the mark is between the two signs
	must.NotContain(t, parts.render(78), "##[")
}
