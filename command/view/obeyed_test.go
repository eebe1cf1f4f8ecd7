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

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestJSON_IsNoCommandOfCI has the same in JSON.
func TestJSON_IsNoCommandOfCI(t *testing.T) {
	t.Parallel()
	const words = "the sources said aaaa ::set-output name=x::y and ##vso[task.setvariable variable=PATH]/x\n::error::z\n##[group]"
	p := problem.Warning("::warning::A warning", words)
	var out bytes.Buffer
	j := newJSONPrinter(Options{Stdout: terminal.Stream{Writer: &out}, Now: time.Now, Product: getproviders.Terraform("1.15.9")})
	j.Problems(problem.List{p})
	must.Succeed(t, result.Write(&out, result.Hashes([]result.PackageHashes{{Path: words}}), true, result.Run{}))
	must.NotContain(t, out.String(), "##")
	lines := json.NewDecoder(&out)
	var event struct{ Diagnostic struct{ Detail string } }
	var written []struct{ Path string }
	must.Succeed(t, lines.Decode(&event))
	must.Equal(t, event.Diagnostic.Detail, words)
	if err := lines.Decode(&written); err != nil || written[0].Path != words {
		t.Errorf("%v: %q", err, written)
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
		must.Len(t, obeyed(text), 0, name)
		must.Contain(t, text, "title", name)
	}
	var out bytes.Buffer
	j := newJSONPrinter(Options{Stdout: terminal.Stream{Writer: &out}, Now: time.Now, Product: getproviders.Terraform("1.15.9")})
	j.Problems(problem.List{problem.Warning("x", words)})
	check("a line of JSON", out.String())
	var event struct{ Diagnostic struct{ Detail string } }
	must.Succeed(t, json.Unmarshal(out.Bytes(), &event))
	must.Equal(t, event.Diagnostic.Detail, words)
	out.Reset()
	var decoded []struct{ Path string }
	must.Succeed(t, result.Write(&out, result.Hashes([]result.PackageHashes{{Path: words}}), true, result.Run{}))
	check("a result in JSON", out.String())
	if err := json.Unmarshal(out.Bytes(), &decoded); err != nil || decoded[0].Path != words {
		t.Errorf("%v: %q", err, decoded)
	}
	for _, asJSON := range []bool{false, true} {
		out.Reset()
		slog.New(terminal.LogHandler(&out, asJSON, nil)).Error("x", "error", words)
		check("a log", out.String())
	}
	out.Reset()
	v := NewInit(Options{Now: time.Now, Progress: ProgressNone})
	v.run.item(packageKey{Module: "p"}).Error = words
	v.run.addProblems(problem.List{problem.Warning("x", words)})
	must.Succeed(t, v.WriteReport(&out, ReportHead{Directory: words}))
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
