package view

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
)

func TestPrintable_IsNoCommandOfCI(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"::error::x":                        ": :error::x",
		"a\n  ::set-output name=x::y":       "a\n  : :set-output name=x::y",
		"a ::add-path::x":                   "a : :add-path::x", // wrapping may begin a line with it
		"see ##vso[task.prependpath]/x":     "see # #vso[task.prependpath]/x",
		"##[group]":                         "# #[group]",
		"####[x]":                           "### #[x]",
		"##teamcity[message text='x']":      "# #teamcity[message text='x']",
		"git::https://x/y.git //a ##b ::1:": "git::https://x/y.git //a ##b ::1:",
		"dial [::1]:80, ## heading":         "dial [::1]:80, ## heading",
		"":                                  "",
	} {
		if got := printable(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestProblems_AreNoCommandsOfCI has the words of a registry be commands, as text with boxes and
// without, wrapped to any width, and as JSON.
func TestProblems_AreNoCommandsOfCI(t *testing.T) {
	t.Parallel()
	const words = "the sources said aaaa ::set-output name=x::y and ##vso[task.setvariable variable=PATH]/x\n::error::z\n##[group]"
	p := problem.Warning("::warning::A warning", words)
	for width := 20; width < 100; width++ {
		for _, plain := range []bool{true, false} {
			var out bytes.Buffer
			h := &humanPrinter{err: Stream{Writer: &out, Width: width}, warn: Stream{Writer: &out, Width: width}, plain: plain}
			h.problem(p)
			for line := range strings.Lines(out.String()) {
				if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##") {
					t.Fatalf("%d columns: a command: %q", width, line)
				}
			}
		}
	}
	parts := problemText{problem: &problem.Problem{Subject: &hcl.Range{Filename: "main.tf"}}, paint: func(text, _ string) string { return text },
		source: &snippet{found: true, code: "x = ##[group]", startLine: 1, from: 5, to: 6}} // the mark is between the two signs
	if text := parts.render(78); strings.Contains(text, "##[") {
		t.Errorf("a command: %s", text)
	}
	var out bytes.Buffer
	j := &jsonPrinter{out: Stream{Writer: &out}, now: time.Now, product: getproviders.Terraform("1.15.9")}
	j.problem(p)
	if err := writeReport(&out, map[string]string{"detail": words}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "##") {
		t.Errorf("a command: %s", &out)
	}
	lines := json.NewDecoder(&out)
	var event struct{ Diagnostic struct{ Detail string } }
	var report struct{ Detail string }
	if err := lines.Decode(&event); err != nil || event.Diagnostic.Detail != words {
		t.Errorf("%v: %q", err, event.Diagnostic.Detail)
	}
	if err := lines.Decode(&report); err != nil || report.Detail != words {
		t.Errorf("%v: %q", err, report.Detail)
	}
}
