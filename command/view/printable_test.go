package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
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
		if got := Printable(text); got != want {
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
			h := &Printer{Err: Stream{Writer: &out, Width: width}, Warn: Stream{Writer: &out, Width: width}, Plain: plain}
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
	must.Succeed(t, writeReport(&out, map[string]string{"detail": words}))
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

// obeyedText has what terminals and CI services obey: an OSC sequence, one by C1 controls, changes of direction, line ends of three kinds.
const obeyedText = "x\x1b]0;title\x07y\u009d8;;https://z\u009c \u202eabc\u2066\u061c \u0085\u2028\u2029 ##teamcity[publishArtifacts '/x'] ##vso[task.setvariable]"

// obeyed is what of a text would be obeyed.
func obeyed(text string) (found []string) {
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)) {
			found = append(found, fmt.Sprintf("%U", r))
		}
	}
	for line := range strings.Lines(text) {
		if command := strings.TrimSpace(line); strings.Contains(line, "##teamcity[") || strings.Contains(line, "##vso[") || strings.HasPrefix(command, "::set-output") {
			found = append(found, command)
		}
	}
	return found
}

// TestOutput_HasNothingThatIsObeyed has such a text, and one that begins a line, in each kind of output.
func TestOutput_HasNothingThatIsObeyed(t *testing.T) {
	t.Parallel()
	const words = obeyedText + "\n::set-output name=x::y"
	check := func(name, text string) {
		t.Helper()
		if found := obeyed(text); len(found) > 0 || !strings.Contains(text, "title") {
			t.Errorf("%s: %q: %s", name, found, text)
		}
	}
	var out bytes.Buffer
	doctor := Doctor{Product: DoctorProduct{Because: words}, Programs: []DoctorProgram{{Program: "terraform", Path: "/x", Version: words}}, Policies: []DoctorPolicy{{Path: words}}}
	page := doctor.Text()
	check("doctor", page)
	if n := strings.Count(page, "\n"); n != 27 {
		t.Errorf("a text of others makes lines of doctor's: %d\n%s", n, page)
	}
	j := &jsonPrinter{out: Stream{Writer: &out}, now: time.Now, product: getproviders.Terraform("1.15.9")}
	j.problem(problem.Warning("x", words))
	check("a line of JSON", out.String())
	var event struct{ Diagnostic struct{ Detail string } }
	if err := json.Unmarshal(out.Bytes(), &event); err != nil || event.Diagnostic.Detail != words {
		t.Errorf("%v: %q", err, event.Diagnostic.Detail)
	}
	out.Reset()
	var result []string
	must.Succeed(t, writeReport(&out, []string{words}))
	check("a result in JSON", out.String())
	if err := json.Unmarshal(out.Bytes(), &result); err != nil || result[0] != words {
		t.Errorf("%v: %q", err, result)
	}
	for _, asJSON := range []bool{false, true} {
		out.Reset()
		slog.New(LogHandler(&out, asJSON, nil)).Error("x", "error", words)
		check("a log", out.String())
	}
	out.Reset()
	r := newRun(Options{Now: time.Now})
	r.item(packageKey{module: "p"}).Error = words
	r.addProblems(problem.List{problem.Warning("x", words)})
	must.Succeed(t, r.write(&out, ReportHead{Directory: words}))
	check("the page", out.String())
	_, data, _ := strings.Cut(out.String(), `{"format"`)
	data, _, _ = strings.Cut(data, "</script>")
	var shown struct {
		Directory string
		Rows      []struct{ Error string }
		Problems  []struct{ Detail string }
	}
	must.Succeed(t, json.Unmarshal([]byte(`{"format"`+data), &shown))
	check("what the page shows", shown.Directory+"\n"+shown.Rows[0].Error+"\n"+shown.Problems[0].Detail)
}
