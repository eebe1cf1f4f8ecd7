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
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/internal/must"
)

// obeyedText has text that terminals and CI services obey: an OSC sequence, a carriage return, C1 controls, bidirectional controls, line ends of three kinds.
const obeyedText = "x\x1b]0;title\x07y\r\u009d8;;https://z\u009c \u202eabc\u2066\u061c \u0085\u2028\u2029 ##teamcity[publishArtifacts '/x'] ##vso[task.setvariable]"

// obeyed returns the parts of a text that would be obeyed.
func obeyed(text string) (found []string) {
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)) {
			found = append(found, fmt.Sprintf("%U", r))
		}
	}
	for line := range strings.Lines(text) {
		if command := strings.TrimSpace(line); strings.Contains(line, "##") || strings.HasPrefix(command, "::") {
			found = append(found, command)
		}
	}
	return found
}

// TestOutput_HasNothingThatIsObeyed puts such a text, and one at the beginning of a line, into each kind of output.
func TestOutput_HasNothingThatIsObeyed(t *testing.T) {
	t.Parallel()
	const words = obeyedText + " aaaa ::set-output name=x::y\n::error::z ##[group]"
	check := func(name, text string) {
		t.Helper()
		must.Len(t, obeyed(text), 0, name)
		must.Contain(t, text, "title", name)
	}
	var out bytes.Buffer
	j := newJSONPrinter(Options{Stdout: terminal.Stream{Writer: &out}, Now: time.Now, Names: asTerraform})
	j.Problems(problem.List{problem.Warning("two\nlines\x00\xff", words)})
	check("a line of JSON", out.String())
	must.Equal(t, strings.Count(out.String(), "\n"), 1, out.String())
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
	s := newSpeaker(func(o *Options) { o.Showing.ReadFile = func(string) ([]byte, error) { return []byte(words), nil } })
	place := hcl.Range{Filename: words, Start: hcl.Pos{Line: 1, Column: 1}, End: hcl.Pos{Line: 1, Column: 9, Byte: 9}}
	s.Problems(problem.List{problem.At(place, problem.Error("", words, words))})
	check("a problem", s.err.String())
	out.Reset()
	v := NewInit(Options{Now: time.Now, Progress: ProgressNone})
	v.run.item(packageKey{Module: "p"}).Error = words
	v.run.addProblems(problem.List{problem.Warning("x", words)})
	must.Succeed(t, v.WriteReport(&out, ReportHead{Directory: words}))
	check("the page", out.String())
	shown := dataIn(t, out.String())
	check("what the page shows", shown.Directory+"\n"+shown.Rows[0].Error+"\n"+shown.Problems[0].Detail)
}
